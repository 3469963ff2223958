"""Texts that once froze the server, or were made to: each a function of the wanted length.

`TEXTS` is for everything that takes a text; `TABLE` and `JSON_KEYS` are whole files and bodies.
"""

import json
from collections.abc import Callable
from itertools import count, takewhile

Make = Callable[[int], str]
"""Make a text of about so many characters."""


def repeated(unit: str, *, before: str = "", after: str = "") -> Make:
    """Return what makes a text of one part, again and again."""
    return lambda size: before + unit * max(1, size // len(unit)) + after


def numbered(form: str) -> Make:
    """Return what makes a text of parts that differ by a number."""

    def make(size: int) -> str:
        each = len(form.format(100_000))
        return "".join(form.format(number) for number in range(max(1, size // each)))

    return make


def duplicate_key(size: int) -> str:
    """Return a JSON object of many keys, of which the last one stands there twice."""
    keys = [f'"k{number}":0' for number in takewhile(lambda one: one * 10 < size, count())]
    return "{" + ",".join([*keys, '"last":0', '"last":1']) + "}"


def long_key(size: int) -> str:
    """Return a JSON object with one long key, below which many short texts stand."""
    return json.dumps({"k" * (size // 2): ["a"] * (size // 10)})


def rows(size: int) -> str:
    """Return a table of two columns and as many short rows as fit."""
    return "text,b\n" + "a,b\n" * max(1, size // 4)


TABLE: Make = rows
JSON_KEYS: dict[str, Make] = {"duplicate key": duplicate_key, "long key": long_key}

TEXTS: dict[str, Make] = {
    "fences": repeated("```\n~~~ x\n", before="~~~\n"),
    "code fences": repeated("```py\nx\n"),
    "open fences": repeated("~~~ a\n``` b\n"),
    "backticks": repeated("`"),
    "heading": repeated(" #", before="# a", after="x"),
    "headings": repeated("# \n"),
    "wiki link": repeated("a", before="[["),
    "wiki links": repeated("[[a|"),
    "brackets": repeated("["),
    "list item": repeated(" ", before="- a", after="[[b]]"),
    "list items": repeated("- a  [[\n"),
    "quoted list item": repeated('- "a" '),
    "front matter": repeated("---x\n", before="---\n"),
    "front matter field": repeated(" ", before="---\na", after="b\n---\n"),
    "front matter comment": repeated(" ", before="---\na: b", after="#c\n---\n"),
    "front matter list": lambda size: f"---\na: {'[ ' * (size // 4)}{'] ' * (size // 4)}\n---\n",
    "token": repeated("eyJ-"),
    "token parts": repeated("eyJabcdefgh."),
    "many tokens": numbered("AKIA{:016d} "),
    "assigned": repeated("token="),
    "private key": repeated("-----BEGIN PRIVATE KEY-----\n"),
    "dots": repeated("."),
    "path": repeated("a/../"),
    "name": repeated("Aa.b_c-"),
    "humps": repeated("A", after="a"),
    "word beside an accent": repeated("a", before="é "),
    "combining marks": repeated("\u0928\u093f"),
    "marks of a letter": repeated("\u0301\u0316", before="a"),
    "dates": repeated("2026-01-0"),
    "digits": repeated("1"),
    "quotes": repeated('"“„«'),
    "escapes": repeated('"\\'),
    "spaces": repeated(" "),
    "newlines": repeated("\n"),
    "spaced words": repeated("because \n"),
    "orders": repeated("ignore the "),
    "ordered gap": repeated(" ", before="ignore all", after="!"),
    "cues": repeated("my a b c "),
    "one steps": repeated("1. run a\n"),
    "steps": numbered("1. run {0}\n2. run {0}\n3. run {0}\n4) no\n"),
    "thoughts": repeated("<think>"),
    "reminders": repeated("<system-reminder>"),
    "references": repeated("<@a|"),
    "comments": repeated("/*"),
    "places": repeated("{{ a "),
    "message places": repeated(" - at `"),
    "hidden": repeated("\u200b\ufeff"),
}
"""Each with the name of what it is made against."""
