import assert from "node:assert/strict";
import test from "node:test";

import { parseJson, placeOf } from "../../spa/js/json_places.js";

const text = JSON.stringify({ a: { "b\"c": [1, "two, {3}", null] }, d: true }, null, 2);
const at = (...path) => {
    const { from, to } = placeOf(text, path);
    return text.slice(from, to).trim();
};

test("a value is found where it stands", () => {
    assert.equal(at("a", "b\"c", "1"), '"two, {3}"');
    assert.equal(at("a", "b\"c", "2"), "null");
    assert.equal(at("d"), "true");
    assert.equal(at(), text);
});

test("a field that is missing is shown at what should hold it", () => {
    assert.ok(at("a", "missing").startsWith("{"));
    assert.ok(at("a", "missing").includes("two"));
});

test("a text that is no JSON says where", () => {
    const { fault } = parseJson('{"a": 1,}');

    assert.equal(fault.from, 8);
    assert.deepEqual(parseJson("[1]"), { value: [1] });
    assert.equal(parseJson("").fault.from, 0);
});
