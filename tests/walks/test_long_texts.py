"""`textBytes` holds for every text and key of an entry, at every door, before any pattern runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Door, House

LIMIT = 65_536
LONG = "x" * (LIMIT + 1)

PLACES: dict[str, dict[str, Any]] = {
    "metadata.a": {"metadata": {"a": LONG}},
    "metadata.a.b[1].c": {"metadata": {"a": {"b": [1, {"c": "é" * (LIMIT // 2 + 1)}]}}},
    f"metadata.{'x' * 128}": {"metadata": {LONG: 1}},
    "unknown": {"unknown": LONG},
    "unknown[0][0]": {"unknown": [[LONG]]},
    "x" * 128: {LONG: 1},
    "source.path": {"source": {"type": "doc", "path": LONG}},
    "keywords[0]": {"keywords": [LONG]},
    "relations[0].metadata.a": {
        "relations": [{"type": "ref", "targetId": "projA:t", "metadata": {"a": LONG}}]
    },
}


@pytest.mark.attack("83")
@pytest.mark.parametrize("field", PLACES)
def test_a_request_with_a_long_text_names_field_and_limit(
    house: House, as_writer: Door, entry: EntryMaker, field: str
) -> None:
    overrides = PLACES[field]
    as_writer("upsertEntry", entry=entry(id="known"))
    before = house.store().view

    for refusal in (
        as_writer.fails("upsertEntry", entry=entry(**overrides)),
        as_writer.fails("patchEntry", id="known", patch=overrides),
    ):
        assert (refusal.status, refusal.code) == (400, "invalidInput")
        assert (refusal.details["field"], refusal.details["limit"]) == (field, "textBytes")
    (fault,) = as_writer("bulkImport", entries=[entry(**overrides)])["errors"]
    assert (fault["code"], "textBytes" in fault["message"]) == ("invalidInput", True)
    assert house.store().view is before


def test_a_text_at_the_limit_is_stored(as_writer: Door, entry: EntryMaker) -> None:
    metadata = {"a": LONG[:-1], LONG[:-1]: [LONG[:-1]]}

    assert as_writer("upsertEntry", entry=entry(metadata=metadata))["created"]


@pytest.mark.attack("83")
def test_limits_come_before_patterns(
    as_writer: Door, entry: EntryMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []

    def count(line: bytes) -> bool:
        looked_at.append(len(line))
        return False

    monkeypatch.setattr("qms.commands.secrets_policy.may_leak", count)

    as_writer.fails("upsertEntry", entry=entry(metadata={"a": LONG}))
    as_writer("bulkImport", entries=[entry(unknown=LONG), entry(body={"statement": LONG})])

    assert looked_at == []
    as_writer("upsertEntry", entry=entry())
    assert len(looked_at) == 1


def test_a_query_is_bounded_before_it_is_taken_apart(as_writer: Door) -> None:
    refusal = as_writer.fails("searchEntries", query={"text": LONG})

    assert (refusal.code, refusal.details["limit"]) == ("invalidInput", "queryBytes")


def test_reading_an_import_names_the_limit(house: House, as_admin: Door) -> None:
    line = json.dumps({"id": "a", "kind": "note", "body": "b", "metadata": {"c": LONG}})

    found = Console(house.client)("POST", "/import/projA", {"format": "jsonl", "content": line})

    (broken,) = found["broken"]
    assert found["items"] == []
    assert broken["reason"].startswith("metadata.c: ")
    assert "textBytes" in broken["reason"]


@pytest.mark.parametrize("change", [dict, lambda long: {**long, "body": LONG}])
def test_a_longer_text_that_is_stored_loads_and_is_reported(
    house: House, as_writer: Door, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    stored = change({"id": "a", "kind": "note", "title": "t", "body": "b", "unknown": [LONG]})
    house.entries_file().parent.mkdir(parents=True, exist_ok=True)
    house.entries_file().write_text(json.dumps(stored) + "\n", encoding="utf-8")

    assert as_writer("getEntry", id="a")["entry"]["unknown"] == [LONG]
    problems = as_writer("health")["problems"]
    assert ("longText", "projA") in [(one["code"], one["project"]) for one in problems]
    assert any("projA:a: unknown[0]" in one["reason"] for one in problems)

    patched = as_writer("patchEntry", id="a", patch={"tags": ["new"]})
    assert patched["entry"]["unknown"] == [LONG]
    as_writer("patchEntry", id="a", patch={"unknown": None, "body": "short"})
    assert as_writer("health")["problems"] == []


def test_an_entry_with_a_long_text_that_is_stored_can_be_given_back(
    house: House, as_admin: Door, entry: EntryMaker
) -> None:
    line = {"id": "projA:long", "kind": "note", "title": "Long", "body": {"text": LONG}}
    house.store()
    house.entries_file().write_text(json.dumps(line) + "\n", encoding="utf-8")
    as_admin("reloadStore")
    held = as_admin("getEntry", id="long")

    again = as_admin("upsertEntry", entry=held["entry"])
    assert (again["version"], again["updated"]) == (held["version"], False)
    assert as_admin("bulkImport", entries=[held["entry"]])["errors"] == []

    renamed = as_admin("upsertEntry", entry={**held["entry"], "title": "Renamed"})
    assert renamed["updated"]
    longer = {**held["entry"], "body": {"text": LONG + "y"}}
    assert as_admin.fails("upsertEntry", entry=longer).details["limit"] == "textBytes"
