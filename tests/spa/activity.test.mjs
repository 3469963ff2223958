import assert from "node:assert/strict";
import test from "node:test";

import { actorsOf, linesOf } from "../../spa/js/activity.js";

const record = (seq, fields) => ({
    seq, atUtc: `2026-01-01T00:00:0${seq}Z`, user: "ada", agentId: null, project: "a", command: "upsertEntry",
    changes: [{ op: "create", id: `a:${seq}` }], ...fields,
});

test("changes and recalls are one list, the newest first", () => {
    const recalls = [{
        atUtc: "2026-01-01T00:00:02Z", user: "ada", agentId: "codex", command: "recall", project: "a", ids: ["a:1"],
    }];
    const lines = linesOf({ items: [record(3, { changes: [{ op: "update", id: "a:3" }] }), record(1)], recalls });

    assert.deepEqual(lines.map(({ who, verb, ids }) => [who, verb, ids]), [
        ["ada", "changed", ["a:3"]], ["codex", "recalled", ["a:1"]], ["ada", "stored", ["a:1"]],
    ]);
    assert.deepEqual(actorsOf(lines), ["ada", "codex"]);
});

test("a change of many entries names the first ones and counts the rest", () => {
    const changes = Array.from({ length: 12 }, (_, at) => ({ op: "create", id: `a:${at}` }));
    const [line] = linesOf({ items: [record(1, { command: "bulkImport", changes })] });

    assert.deepEqual([line.verb, line.what, line.ids.length, line.more], ["imported", "stored", 5, 7]);
});

test("counts of use are left out, and events are named in words", () => {
    const event = (seq, command) => record(seq, { command, project: "", isEvent: true });
    const items = [record(1, { command: "touch" }), event(2, "openSession")];

    assert.equal(linesOf({ items: [event(3, "makeKey")] })[0].verb, "make key");

    assert.deepEqual(linesOf({ items }).map(({ verb, what, ids }) => [verb, what, ids]), [["signed in", "events", []]]);
});
