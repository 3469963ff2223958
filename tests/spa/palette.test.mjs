import assert from "node:assert/strict";
import test from "node:test";

import { grouped, rank } from "../../spa/js/palette.js";

const choices = [
    { title: "Import and export", group: "Pages" }, { title: "Entries", group: "Pages" },
    { title: "New entry", group: "Actions", hint: "write a memory" }, { title: "Centre", group: "Projects" },
];
const titles = (text, most) => rank(choices, text, most).map(({ title }) => title);

test("the beginning of a title comes before the beginning of a word and any other place", () => {
    assert.deepEqual(titles("ent"), ["Entries", "New entry", "Centre"]);
});

test("every word has to fit, in the title or the hint", () => {
    assert.deepEqual(titles("new memory"), ["New entry"]);
    assert.deepEqual(titles("entries nowhere"), []);
});

test("without a text the order stays, up to a limit", () => {
    assert.deepEqual(titles(" ", 2), ["Import and export", "Entries"]);
});

test("groups keep the order in which they occur", () => {
    assert.deepEqual(grouped(rank(choices, "e")).map(([group]) => group), ["Pages", "Actions", "Projects"]);
});
