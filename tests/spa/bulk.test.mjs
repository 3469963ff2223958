import assert from "node:assert/strict";
import test from "node:test";

import { changeEach, collectIds } from "../../spa/js/bulk.js";

test("an action runs on every id, and refusals do not stop it", async () => {
    const seen = [];
    const { done, refused } = await changeEach(["a", "b", "c", "d", "e", "f"], async (id) => {
        seen.push(id);
        if (id === "b") {
            throw new Error("no");
        }
    });

    assert.deepEqual(seen.sort(), ["a", "b", "c", "d", "e", "f"]);
    assert.deepEqual([done, refused.map(({ message }) => message)], [5, ["no"]]);
});

test("an action stops when it is told to", async () => {
    const ids = Array.from({ length: 100 }, (_, at) => `${at}`);

    const { done } = await changeEach(ids, async () => {}, (number) => number < 10);

    assert.ok(done >= 10 && done <= 14, `${done}`);
});

test("the ids of all pages are collected up to a limit", async () => {
    const page = async (cursor = "0") => ({
        items: [{ id: `a${cursor}` }, { id: `b${cursor}` }], nextCursor: cursor === "9" ? null : `${Number(cursor) + 1}`,
    });

    assert.equal((await collectIds(page)).length, 20);
    assert.deepEqual(await collectIds(page, 3), ["a0", "b0", "a1"]);
});
