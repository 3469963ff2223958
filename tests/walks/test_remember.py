"""remember: a flat request stores a memory, and changes the one with its id, through the doors."""

from typing import Any

import pytest

from tests.support.house import Door
from tests.support.secrets_made_up import MADE_UP

TEXT = "The staging database listens on 5433"


def entry_of(door: Door, entry_id: str) -> Any:
    return door("getEntry", id=entry_id)["entry"]


def test_a_text_alone_is_stored_as_a_note(as_writer: Door) -> None:
    answer = as_writer("remember", text=TEXT)

    made = answer.pop("id")
    assert answer == {
        "created": True,
        "updated": False,
        "similar": [],
        "contradictions": [],
        "warnings": [],
    }
    stored = entry_of(as_writer, made)
    assert (stored["kind"], stored["body"], stored["title"]) == ("note", {"text": TEXT}, TEXT)


def test_every_field_of_the_request_is_stored(as_writer: Door) -> None:
    made = as_writer(
        "remember",
        text="Deploy on Mondays",
        title="Deploys",
        kind="procedure",
        tags=["release"],
        id="deploys",
        retention="mid",
        source={"path": "docs/release.md"},
    )["id"]

    stored = entry_of(as_writer, made)
    assert made == "projA:deploys"
    assert (stored["title"], stored["kind"], stored["tags"]) == (
        "Deploys",
        "procedure",
        ["release"],
    )
    assert stored["body"] == {"steps": ["Deploy on Mondays"]}
    assert (stored["retention"], stored["source"]) == ("mid", {"path": "docs/release.md"})
    assert "ttlUtc" in stored


def test_the_same_text_again_is_kept_once(as_writer: Door) -> None:
    first = as_writer("remember", text=TEXT)
    again = as_writer("remember", text=TEXT)

    assert (again["created"], again["updated"]) == (False, False)
    assert (again["id"], again["duplicateOf"]) == (first["id"], first["id"])


def test_with_an_id_the_text_changes_and_the_rest_stays(as_writer: Door) -> None:
    entry = {
        "id": "db",
        "kind": "fact",
        "title": "Staging database",
        "body": {"statement": "It is at 5433", "justification": "Seen"},
        "tags": ["db"],
        "colour": "blue",
    }
    as_writer("upsertEntry", entry=entry)

    answer = as_writer("remember", id="db", text="It is at 5434")

    stored = entry_of(as_writer, "db")
    assert (answer["created"], answer["updated"]) == (False, True)
    assert stored["body"] == {"statement": "It is at 5434", "justification": "Seen"}
    assert (stored["kind"], stored["title"], stored["tags"]) == ("fact", "Staging database", ["db"])
    assert stored["colour"] == "blue"


def test_a_title_that_was_made_from_the_text_follows_it(as_writer: Door) -> None:
    made = as_writer("remember", text="It is at 5433")["id"]
    as_writer("remember", id=made, text="It is at 5434")

    assert entry_of(as_writer, made)["title"] == "It is at 5434"


def test_a_change_of_kind_and_retention_is_stored(as_writer: Door) -> None:
    made = as_writer("remember", text="Ask them", retention="short")["id"]
    as_writer("remember", id=made, text="Ask them", kind="task", retention="long")

    stored = entry_of(as_writer, made)
    assert (stored["kind"], stored["body"]) == ("task", {"summary": "Ask them"})
    assert "ttlUtc" not in stored


def test_a_writer_does_not_change_what_a_curator_checked(as_writer: Door, as_curator: Door) -> None:
    as_curator(
        "upsertEntry", entry={"id": "a", "kind": "note", "body": "x", "curationTier": "curated"}
    )

    assert as_writer.fails("remember", id="a", text="y").code == "notAllowed"
    assert entry_of(as_writer, "a")["body"] == {"text": "x"}


def test_a_secret_is_treated_as_the_project_says(as_writer: Door) -> None:
    answer = as_writer("remember", text=f"The key is {MADE_UP['a GitHub token']}")

    assert len(answer["warnings"]) == 1


@pytest.mark.parametrize("text", ["", None, "   "])
def test_a_text_is_needed(as_writer: Door, text: str | None) -> None:
    refused = as_writer.fails("remember", text=text)

    assert (refused.status, refused.code) == (400, "invalidInput")
    assert refused.details["example"]["text"].strip()


def test_a_reader_does_not_remember(as_reader: Door) -> None:
    assert as_reader.fails("remember", text=TEXT).code == "notAllowed"
