"""Every limit answers with the field and its own name, and stores nothing."""

from typing import Any

import pytest

from qms.memory.limits import DEFAULT_LIMITS
from tests.conftest import EntryMaker
from tests.support.house import Door, House, failure


def relations(count: int) -> list[dict[str, str]]:
    return [{"type": "ref", "targetId": f"projA:t{number}"} for number in range(count)]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("overrides", "field", "limit"),
    [
        ({"title": "é" * 257}, "title", "titleBytes"),
        ({"body": {"statement": "x" * 65_537}}, "body.statement", "textBytes"),
        ({"body": {"statement": "x", "more": ["y" * 65_537]}}, "body.more[0]", "textBytes"),
        ({"tags": [f"t{number}" for number in range(51)]}, "tags", "tags"),
        ({"tags": ["x", "é" * 65]}, "tags[1]", "tagBytes"),
        ({"relations": relations(1001)}, "relations", "relations"),
        ({"metadata": {"parts": ["z" * 60_000] * 18}}, "entry", "lineBytes"),
    ],
)
def test_an_entry_beyond_a_limit_names_field_and_limit_and_is_not_stored(
    house: House,
    as_writer: Door,
    entry: EntryMaker,
    overrides: dict[str, Any],
    field: str,
    limit: str,
) -> None:
    as_writer("upsertEntry", entry=entry(id="known"))
    before = house.store().view

    for refusal in (
        as_writer.fails("upsertEntry", entry=entry(**overrides)),
        as_writer.fails("upsertEntry", entry=entry(id="known", **overrides)),
        as_writer.fails("patchEntry", id="known", patch=overrides),
    ):
        assert (refusal.status, refusal.code) == (400, "invalidInput")
        assert (refusal.details["field"], refusal.details["limit"]) == (field, limit)
        assert limit in refusal.message
    (fault,) = as_writer("bulkImport", entries=[entry(**overrides)])["errors"]
    assert fault["code"] == "invalidInput"
    assert limit in fault["message"]
    assert house.store().view is before


@pytest.mark.parametrize(
    "overrides",
    [
        {"title": "é" * 256},
        {"body": {"statement": "x" * 65_536}},
        {"tags": [f"t{number}" for number in range(50)]},
        {"tags": ["é" * 64]},
        {"relations": relations(1000)},
    ],
)
def test_an_entry_at_a_limit_is_stored(
    as_writer: Door, entry: EntryMaker, overrides: dict[str, Any]
) -> None:
    assert as_writer("upsertEntry", entry=entry(**overrides))["created"]


@pytest.mark.parametrize(
    ("command", "request_", "field", "limit"),
    [
        ("bulkImport", {"entries": [{}] * 1001}, "entries", "bulkEntries"),
        ("listEntries", {"page": {"size": 201}}, "page.size", "results"),
        ("relatedEntries", {"id": "x", "maxHops": 6}, "maxHops", "hops"),
    ],
)
def test_a_request_beyond_a_limit_names_field_and_limit(
    as_writer: Door, command: str, request_: dict[str, Any], field: str, limit: str
) -> None:
    refusal = as_writer.fails(command, **request_)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert (refusal.details["field"], refusal.details["limit"]) == (field, limit)


def test_json_beyond_the_depth_names_the_limit(as_writer: Door, entry: EntryMaker) -> None:
    depth = DEFAULT_LIMITS.json_depth

    refusal = as_writer.fails("upsertEntry", entry=entry(metadata=nested(depth)))

    assert (refusal.code, refusal.details["limit"]) == ("invalidInput", "jsonDepth")
    assert as_writer("upsertEntry", entry=entry(metadata=nested(depth - 10)))["created"]


def test_a_limit_from_the_configuration_is_the_one_in_force(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    house.set_limits(tags=1, results=2, hops=1)

    assert as_writer.fails("upsertEntry", entry=entry(tags=["a", "b"])).details["maximum"] == 1
    assert as_writer.fails("listEntries", page={"size": 3}).details["maximum"] == 2
    assert as_writer.fails("relatedEntries", id="x", maxHops=2).details["maximum"] == 1


@pytest.fixture
def small(house: House) -> House:
    """A house whose projA takes three entries and one megabyte."""
    house.reconfigure(
        lambda text: text.replace(
            'slug = "projA"\n', 'slug = "projA"\nmaxEntries = 3\nmaxMegabytes = 1\n'
        )
    )
    return house


def test_a_project_takes_no_more_entries_than_its_quota(
    small: House, as_writer: Door, entry: EntryMaker
) -> None:
    entries = [entry(id=f"e{number}") for number in range(5)]

    answer = as_writer("bulkImport", entries=entries)
    assert answer["imported"] == 3
    assert [fault["code"] for fault in answer["errors"]] == ["tooLarge", "tooLarge"]

    refusal = as_writer.fails("upsertEntry", entry=entry())
    assert (refusal.status, refusal.code) == (413, "tooLarge")
    assert (refusal.details["limit"], refusal.details["maximum"]) == ("maxEntries", 3)
    assert as_writer("upsertEntry", entry=entry(id="e0"))["updated"]
    as_writer("deleteEntry", id="e0")
    assert as_writer("upsertEntry", entry=entry())["created"]


def test_a_project_takes_no_more_bytes_than_its_quota(
    small: House, as_writer: Door, entry: EntryMaker
) -> None:
    large = {"statement": "x", "parts": ["y" * 60_000] * 10}
    as_writer("upsertEntry", entry=entry(id="a", body=large))
    as_writer("upsertEntry", entry=entry(id="b"))

    for answer in (
        as_writer.send("upsertEntry", {"entry": entry(body=large)}),
        as_writer.send(
            "patchEntry", {"id": "b", "patch": {"metadata": {"parts": ["z" * 60_000] * 8}}}
        ),
    ):
        refusal = failure(answer)
        assert (refusal.status, refusal.code) == (413, "tooLarge")
        assert (refusal.details["limit"], refusal.details["maximum"]) == ("maxMegabytes", 1)
        assert "connection" not in answer.headers
    assert as_writer("patchEntry", id="a", patch={"body": {"parts": None}})["entry"]["body"] == {
        "statement": "x"
    }
