from typing import Any, Literal

import msgspec
import pytest

from qms.memory.entry import Entry
from qms.memory.field_types import forms_of
from qms.memory.filters import Filter, Page
from qms.memory.forms import MAX_REMARKS, Remarks, read_forms


class _Query(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    text: str | None = None
    max_results: int = 25
    filter: Filter | None = None


class _Search(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    query: _Query
    format: Literal["json", "toonCompact"] = "json"


class _List(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    filter: Filter | None = None
    page: Page | None = None
    ids: list[str] = []
    explain: bool = False
    ratio: float = 0.5


class _Store(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    entry: dict[str, Any]
    if_version: str | None = None


class _Recall(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    query: str
    limit: int = 5


def _read(given: dict[str, Any], kind: type[msgspec.Struct]) -> tuple[dict[str, Any], list[str]]:
    remarks = Remarks()
    return read_forms(given, forms_of(kind), remarks), remarks.texts


@pytest.mark.parametrize(
    ("kind", "given", "read"),
    [
        (_Search, {"query": "words"}, {"query": {"text": "words"}}),
        (_Search, {"text": "words"}, {"query": {"text": "words"}}),
        (_Search, {"query": "w", "limit": "5"}, {"query": {"text": "w", "maxResults": 5}}),
        (_Search, {"query": '{"text": "w"}'}, {"query": {"text": "w"}}),
        (_Search, {"query": '{"port": 1}'}, {"query": {"text": '{"port": 1}'}}),
        (
            _Search,
            {"query": "w", "tags": "a, b", "kind": "Fact"},
            {"query": {"text": "w", "filter": {"tags": ["a", "b"], "kind": "fact"}}},
        ),
        (_Search, {"Query": {"max_results": 3}}, {"query": {"maxResults": 3}}),
        (
            _Search,
            {"query": {}, "format": "TOON_COMPACT"},
            {"query": {}, "format": "toonCompact"},
        ),
        (_List, {"limit": 10}, {"page": {"size": 10}}),
        (_List, {"ids": "a, b"}, {"ids": ["a", "b"]}),
        (_List, {"ids": "memory://projA/projA:a"}, {"ids": ["projA:a"]}),
        (_List, {"explain": "True", "ratio": "0.25"}, {"explain": True, "ratio": 0.25}),
        (
            _List,
            {"filter": {"createdAfter": "2026-01-02", "kinds": "code_snippet"}},
            {"filter": {"createdAfter": "2026-01-02T00:00:00Z", "kinds": ["codeSnippet"]}},
        ),
        (_Store, {"entry": "words"}, {"entry": {"kind": "note", "body": "words"}}),
        (_Store, {"memory": "words"}, {"entry": {"kind": "note", "body": "words"}}),
        (_Store, {"content": "w", "tags": "a"}, {"entry": {"content": "w", "tags": "a"}}),
        (_Store, {"entry": "w", "kind": "fact"}, {"entry": {"kind": "fact", "body": "w"}}),
        (_Recall, {"context": "words"}, {"query": "words"}),
        (_Recall, {"query": {"text": "words"}}, {"query": "words"}),
        (_Recall, {"query": ["words"], "topK": 3}, {"query": "words", "limit": 3}),
    ],
)
def test_a_plain_form_is_read_and_told(
    kind: type[msgspec.Struct], given: dict[str, Any], read: dict[str, Any]
) -> None:
    found, remarks = _read(given, kind)

    assert found == read
    assert remarks


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (_Search, {"query": {"text": "w", "maxResults": 5}, "format": "json"}),
        (_Search, {"query": {"text": "w"}, "colour": "blue"}),
        (_Search, {"query": 7}),
        (_Search, {"query": {"maxResults": "five"}}),
        (_Search, {"query": {"maxResults": 3, "limit": 5}}),
        (_Search, {"query": {"filter": "tags"}}),
        (_List, {"ids": ["a"], "explain": "yes"}),
        (_List, {"ids": [7], "filter": {"kinds": ["rumour"]}}),
        (_Recall, {"query": {"text": "w", "maxResults": 5}}),
        (_Recall, {"query": ["a", "b"]}),
        (_Recall, {"query": "", "limit": None}),
        (_Store, {"entry": {}}),
    ],
)
def test_what_is_right_or_not_plain_stays_as_it_is(
    kind: type[msgspec.Struct], given: dict[str, Any]
) -> None:
    assert _read(given, kind) == (given, [])


def test_values_of_an_entry_are_read_and_its_keys_stay() -> None:
    remarks = Remarks()
    given = {
        "Title": "T",
        "kind": "Fact",
        "tags": "a, b",
        "priority": "7",
        "relations": {"type": "ref", "targetId": "memory://p/x"},
        "metadata": {"Kind": "Fact"},
    }

    read = read_forms(given, forms_of(Entry), remarks, place="entry.", by_type=True)

    assert read == {
        "Title": "T",
        "kind": "fact",
        "tags": ["a", "b"],
        "priority": 7,
        "relations": [{"type": "ref", "targetId": "p:x"}],
        "metadata": {"Kind": "Fact"},
    }
    assert "entry.kind: 'Fact' was read as 'fact'" in remarks.texts


def test_remarks_are_few_however_long_a_list_is() -> None:
    kinds = ["Fact" + "_" * number for number in range(1000)]

    found, remarks = _read({"filter": {"kinds": kinds}}, _List)

    assert found["filter"]["kinds"][:2] == ["fact", "fact"]
    assert len(remarks) == MAX_REMARKS + 1


@pytest.mark.parametrize(
    "text",
    [
        "," * 500_000,
        "[" * 500_000,
        "{" * 500_000,
        "memory://" * 50_000,
        "9" * 500_000,
        "a " * 250_000,
    ],
)
def test_a_long_text_is_read_in_linear_time(text: str) -> None:
    # A quadratic rule would need minutes for each of them.
    searched, _ = _read({"query": text, "format": text}, _Search)
    listed, _ = _read({"ids": text, "filter": {"createdAfter": text}, "ratio": text}, _List)

    assert searched == {"query": {"text": text}, "format": text}
    assert listed["filter"] == {"createdAfter": text}
    assert len(listed["ids"]) <= 1
