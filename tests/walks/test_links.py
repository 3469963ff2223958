"""linkEntries, unlinkEntries and getLinks, through the application."""

from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House


@pytest.fixture
def pair(as_writer: Door, entry: EntryMaker) -> tuple[str, str]:
    first, second = (as_writer("upsertEntry", entry=entry())["id"] for _ in range(2))
    return first, second


def links(door: Door, entry_id: str, **request: Any) -> list[Any]:
    found: list[Any] = door("getLinks", id=entry_id, **request)["links"]
    return found


def test_a_link_is_a_relation_of_its_source(
    as_writer: Door, pair: tuple[str, str], clock: Clock
) -> None:
    source, target = pair
    answer = as_writer("linkEntries", sourceId=source, targetId=target)
    stored = as_writer("getEntry", id=source)

    assert answer == {"linked": True, "version": stored["version"]}
    assert stored["entry"]["relations"] == [
        {"createdUtc": "2026-03-01T12:00:00.000Z", "type": "relatedTo", "targetId": target}
    ]


def test_both_ends_show_the_link_with_the_title_of_the_other(
    as_writer: Door, entry: EntryMaker
) -> None:
    source = as_writer("upsertEntry", entry=entry(title="the source"))["id"]
    target = as_writer("upsertEntry", entry=entry(title="the target"))["id"]
    as_writer("linkEntries", sourceId=source, targetId=target, type="derivedFrom", weight=0.5)

    seen = links(as_writer, source)[0]
    assert (seen["type"], seen["weight"], seen["title"]) == ("derivedFrom", 0.5, "the target")
    assert links(as_writer, target)[0]["title"] == "the source"
    assert links(as_writer, target, direction="out") == []
    assert links(as_writer, source, types=["ref"]) == []


def test_the_same_link_again_changes_nothing(as_writer: Door, pair: tuple[str, str]) -> None:
    source, target = pair
    first = as_writer("linkEntries", sourceId=source, targetId=target)
    again = as_writer("linkEntries", sourceId=source, targetId=target)

    assert again == {"linked": False, "version": first["version"]}


def test_a_new_weight_changes_the_link_that_is_there(
    as_writer: Door, pair: tuple[str, str]
) -> None:
    source, target = pair
    as_writer("linkEntries", sourceId=source, targetId=target, weight=0.2)
    again = as_writer("linkEntries", sourceId=source, targetId=target, weight=0.9)

    assert again["linked"] is False
    assert [one["weight"] for one in links(as_writer, source)] == [0.9]


def test_unlinking_takes_one_type_or_all(as_writer: Door, pair: tuple[str, str]) -> None:
    source, target = pair
    for type_ in ("ref", "partOf", "mentions"):
        as_writer("linkEntries", sourceId=source, targetId=target, type=type_)

    assert as_writer("unlinkEntries", sourceId=source, targetId=target, type="ref")["unlinked"] == 1
    assert as_writer("unlinkEntries", sourceId=source, targetId=target)["unlinked"] == 2
    assert as_writer("unlinkEntries", sourceId=source, targetId=target)["unlinked"] == 0
    assert links(as_writer, source) == []


def test_an_entry_is_not_linked_to_itself(as_writer: Door, pair: tuple[str, str]) -> None:
    refused = as_writer.fails("linkEntries", sourceId=pair[0], targetId=pair[0])

    assert (refused.code, refused.details["field"]) == ("invalidInput", "targetId")


@pytest.mark.parametrize("type_", ["works at", "1st", "a" * 65, "ü"])
def test_a_type_that_is_no_word_is_refused_by_its_name(
    as_writer: Door, pair: tuple[str, str], type_: str
) -> None:
    refused = as_writer.fails("linkEntries", sourceId=pair[0], targetId=pair[1], type=type_)

    assert (refused.code, refused.details["field"]) == ("invalidInput", "type")


def test_a_target_that_is_not_there_is_not_found(as_writer: Door, pair: tuple[str, str]) -> None:
    refused = as_writer.fails("linkEntries", sourceId=pair[0], targetId="nowhere")

    assert refused.code == "notFound"


@pytest.mark.attack(12)
def test_a_link_into_a_closed_project_is_neither_made_nor_shown(
    house: House, as_writer: Door, pair: tuple[str, str], entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: text + '[permissions.closed]\nadmin = "admin"\n')
    secret = house.door("admin", "closed")("upsertEntry", entry=entry())["id"]
    as_writer("patchEntry", id=pair[0], patch={"relations": [{"type": "ref", "targetId": secret}]})

    assert as_writer.fails("linkEntries", sourceId=pair[0], targetId=secret).code == "notFound"
    assert links(as_writer, pair[0]) == []


def test_a_link_to_the_shared_store_is_made_from_the_project(
    house: House, as_writer: Door, pair: tuple[str, str], entry: EntryMaker
) -> None:
    common = as_writer.at("shared")("upsertEntry", entry=entry())["id"]
    as_writer("linkEntries", sourceId=pair[0], targetId=common)

    assert [one["targetId"] for one in links(as_writer, pair[0])] == [common]


@pytest.mark.attack(74)
def test_a_stale_version_links_nothing(as_writer: Door, pair: tuple[str, str]) -> None:
    source, target = pair
    refused = as_writer.fails("linkEntries", sourceId=source, targetId=target, ifVersion="0" * 16)

    assert refused.code == "conflict"
    assert links(as_writer, source) == []


def test_a_writer_does_not_link_a_canonical_entry(
    as_admin: Door, as_writer: Door, pair: tuple[str, str]
) -> None:
    source, target = pair
    as_admin("patchEntry", id=source, patch={"curationTier": "canonical"})

    assert as_writer.fails("linkEntries", sourceId=source, targetId=target).code == "notAllowed"
