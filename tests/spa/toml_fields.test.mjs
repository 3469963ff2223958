import assert from "node:assert/strict";
import test from "node:test";

import { readField, writeField } from "../../spa/js/toml_fields.js";

const TEXT = `# mine
[global]
logLevel = "info"  # as loud as this
listen = ["http://127.0.0.1:5080"]
rate.requestsPerMinute = 6_000

[global.backup] # nightly
keep = 14

[endpoint.a]
slug = "a"
`;

test("settings are read where they stand", () => {
    assert.deepEqual(readField(TEXT, "global", "logLevel"), { value: "info", line: 3, isComplex: false });
    assert.equal(readField(TEXT, "global.backup", "keep").value, 14);
    assert.equal(readField(TEXT, "global.rate", "requestsPerMinute").value, 6000);
    assert.deepEqual(readField(TEXT, "global", "listen").value, ["http://127.0.0.1:5080"]);
    assert.deepEqual(readField(TEXT, "global", "behindProxy"), { value: undefined });
    assert.deepEqual(readField(TEXT, "endpoint.b", "slug"), { value: undefined });
});

test("a setting is changed and everything around it stays", () => {
    const changed = writeField(TEXT, "global", "logLevel", "debug");

    assert.equal(changed, TEXT.replace('"info"  #', '"debug"  #'));
    assert.equal(writeField(TEXT, "global.rate", "requestsPerMinute", 10), TEXT.replace("6_000", "10"));
    assert.equal(writeField(changed, "global", "logLevel", "info"), TEXT);
});

test("a new setting joins its section, or gets one", () => {
    assert.ok(writeField(TEXT, "global.backup", "mode", "full").includes('keep = 14\nmode = "full"\n\n[endpoint.a]'));
    assert.ok(writeField(TEXT, "global.embedding", "model", "hash").endsWith('\n\n[global.embedding]\nmodel = "hash"\n'));
    assert.equal(writeField("", "global", "behindProxy", true), "[global]\nbehindProxy = true\n");
    assert.equal(writeField("a = 1", "global", "keep", 2), "a = 1\n[global]\nkeep = 2\n".replace("1\n", "1\n"));
});

test("a cleared setting goes back to its default", () => {
    assert.equal(writeField(TEXT, "global.backup", "keep", undefined), TEXT.replace("keep = 14\n", ""));
    assert.equal(writeField(TEXT, "global", "behindProxy", undefined), TEXT);
});

test("texts with quotes and marks survive, and what is no single value is left to the text", () => {
    const text = writeField(TEXT, "global", "serviceName", 'say "x" # no comment');

    assert.equal(readField(text, "global", "serviceName").value, 'say "x" # no comment');
    assert.equal(readField("[global]\nlisten = [\n]\n", "global", "listen").isComplex, true);
    assert.equal(readField("[global]\nbackup = { keep = 3 }\n", "global", "backup").isComplex, true);
    assert.equal(readField("[global]\nname = 'raw \\ text'\n", "global", "name").value, "raw \\ text");
});
