import assert from "node:assert/strict";
import test from "node:test";

import { commandsOf, compact, curlOf } from "../../spa/js/api_console.js";

test("commands come from the OpenAPI document, by name", () => {
    const post = (summary) => ({ post: {
        summary, description: "Needs tier reader.", tags: ["core"],
        requestBody: { content: { "application/json": { example: { id: "x" } } } },
    } });
    const found = commandsOf({ paths: {
        "/api/v1/{project}/stats": { post: { summary: "Count" } }, "/api/v1/{project}/getEntry": post("Read"),
        "/admin/users": post("no command"),
    } });

    assert.deepEqual(found.map(({ name, example }) => [name, example]), [["getEntry", { id: "x" }], ["stats", {}]]);
    assert.deepEqual(found[0], {
        name: "getEntry", summary: "Read", needs: "Needs tier reader.", toolset: "core", example: { id: "x" },
    });
});

test("a curl line survives quotes and names no key", () => {
    const line = curlOf({ origin: "http://127.0.0.1:5080", project: "a b", name: "getEntry", text: "{\"id\": \"it's\"}" });

    assert.ok(line.startsWith("curl -sS 'http://127.0.0.1:5080/api/v1/a%20b/getEntry' \\\n"));
    assert.ok(line.includes('"Authorization: Bearer $QMS_KEY"'));
    assert.ok(line.endsWith("-d '{\"id\": \"it'\\''s\"}'"));
});

test("JSON is one line, anything else stays", () => {
    assert.equal(compact('{\n  "a": 1\n}'), '{"a":1}');
    assert.equal(compact("{nonsense"), "{nonsense");
});
