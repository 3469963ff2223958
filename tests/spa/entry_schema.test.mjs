import assert from "node:assert/strict";
import test from "node:test";

import { bodyFieldsOf, faultsOf, kindsOf, limitInWords, pathOfField } from "../../spa/js/entry_schema.js";

const orNull = (schema) => ({ anyOf: [schema, { type: "null" }], default: null });
const schema = {
    $ref: "#/$defs/Entry",
    allOf: [
        { if: { properties: { kind: { const: "fact" } } }, then: { properties: { body: { $ref: "#/$defs/Fact" } } } },
    ],
    $defs: {
        "some.room.Kind": { enum: ["fact", "note"] },
        Entry: {
            type: "object",
            properties: {
                kind: { $ref: "#/$defs/some.room.Kind" }, body: { type: "object" }, title: { type: "string" },
                tags: { type: "array", items: { type: "string" } }, priority: { type: "integer", minimum: 1, maximum: 10 },
                ttlUtc: orNull({ type: "string", format: "date-time" }),
            },
            required: ["id", "kind", "title", "body", "timestamps"],
        },
        Fact: {
            type: "object",
            properties: {
                statement: { type: "string" }, justification: orNull({ type: "string" }),
                steps: { type: "array", items: { type: "string" } }, value: { anyOf: [{ type: "number" }, { type: "string" }] },
                spans: orNull({ type: "array", items: { type: "object" } }), sure: { type: "boolean" },
            },
            required: ["statement"],
        },
    },
};
const messages = (entry) => faultsOf(schema, entry).map(({ path, message }) => `${path.join(".")} ${message}`);

test("the fields of a kind come from the schema", () => {
    assert.deepEqual(kindsOf(schema), ["fact", "note"]);
    assert.deepEqual(bodyFieldsOf(schema, "fact").map(({ name, type, isRequired }) => [name, type, isRequired]), [
        ["statement", "text", true], ["justification", "text", false], ["steps", "lines", false],
        ["value", "value", false], ["spans", "json", false], ["sure", "yesNo", false],
    ]);
});

test("an entry that the server would take has no fault", () => {
    assert.deepEqual(messages({ kind: "fact", body: { statement: "x" }, ttlUtc: null, own: 1 }), []);
});

test("every fault is named at its field", () => {
    assert.deepEqual(messages({ kind: "fact", body: {}, priority: 11, tags: ["a", 1], ttlUtc: "soon" }), [
        "tags.1 must be a string",
        "priority must be at most 10",
        "ttlUtc must be a date and time such as 2026-03-01T12:00:00Z",
        "body.statement is required",
    ]);
    assert.deepEqual(messages({ kind: "story", body: "x" }), ["kind must be one of fact, note", "body must be an object"]);
    assert.deepEqual(messages([]), [" must be an object"]);
});

test("the server's way to name a field is read", () => {
    assert.deepEqual(pathOfField("relations[0].type"), ["relations", "0", "type"]);
});

test("a limit of the server is said in words", () => {
    const said = (message, details) => limitInWords({ message, details });

    assert.equal(said("title: 600 bytes are over the limit titleBytes of 512", { field: "title", maximum: 512 }),
        "At most 512 bytes, about as many letters; this has 600.");
    assert.equal(said("tags: 60 is over the limit tags of 50", { field: "tags", maximum: 50 }),
        "At most 50 tags; this has 60.");
    assert.equal(said("namespace: must be 1 to 128 characters", { field: "namespace" }), "Must be 1 to 128 characters");
});
