"""Problems: bad lines with their text, conflict copies, deletions that wait for a decision."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.browser.stores import empty, ids_of, lacks_markup, remember
from tests.support.server import Client, ServerProcess, store_folder
from tests.support.waiting import eventually

MARKUP = "<img src=x onerror=document.title='owned'>"
ENTRIES = 14


@pytest.fixture
def hand_edited(server: ServerProcess) -> Iterator[Client]:
    """Return a client of a project whose file somebody edits; it is put in order afterwards."""
    with server.client("projB") as client:
        yield client
        file = entries_file(server)
        good = [line for line in file.read_text("utf-8").splitlines() if line.startswith('{"')]
        file.write_text("".join(f"{line}\n" for line in good), encoding="utf-8")
        client("reloadStore")
        empty(client)


def entries_file(server: ServerProcess) -> Path:
    return store_folder(server.root, "projB") / "entries.jsonl"


def folded(server: ServerProcess) -> None:
    eventually(lambda: server.store("projB")["pendingJournal"] == 0)


@pytest.mark.attack("56")
def test_a_bad_line_is_shown_with_its_text_and_goes_when_it_is_corrected(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    remember(hand_edited, "Good one")
    folded(server)
    file = entries_file(server)
    good = file.read_text(encoding="utf-8")
    file.write_text(f"{good}not JSON {MARKUP}\n", encoding="utf-8")
    hand_edited("reloadStore")

    admin.visit("Problems")
    line = admin.page.get_by_label("Line 2", exact=True)
    expect(line).to_have_text(f"not JSON {MARKUP}")
    lacks_markup(admin)
    file.write_text(good, encoding="utf-8")
    hand_edited("reloadStore")
    admin.press("Look again")

    expect(line).to_have_count(0)


def test_a_large_deletion_is_taken_back_by_a_person(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    for number in range(ENTRIES):
        remember(hand_edited, f"Kept {number}")
    folded(server)
    entries_file(server).write_text("", encoding="utf-8")
    hand_edited("reloadStore")

    admin.visit("Problems")
    admin.press("Bring the entries back")
    admin.dialog().get_by_role("button", name="Bring back").click()

    admin.reads("The file is written again")
    assert len(ids_of(hand_edited)) == ENTRIES
    eventually(lambda: len(entries_file(server).read_text("utf-8").splitlines()) == ENTRIES)


def test_a_conflict_copy_stands_beside_what_lives_until_it_is_dismissed(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    entry_id = remember(hand_edited, "Opening hours")
    lost = {"id": entry_id, "kind": "fact", "title": MARKUP, "body": {"statement": "at nine"}}
    copy = {"id": entry_id, "reason": "changed on both sides", "entry": lost}
    copies = store_folder(server.root, "projB") / ".qms" / "conflicts.jsonl"
    copies.write_text(json.dumps(copy) + "\n", encoding="utf-8")

    admin.visit("Problems")
    expect(admin.page.get_by_label("The copy of Opening hours")).to_contain_text("at nine")
    expect(admin.page.get_by_label("What lives of Opening hours, compared")).to_contain_text(
        "Opening hours is so"
    )
    lacks_markup(admin)
    admin.press("Dismiss")
    admin.dialog().get_by_role("button", name="Dismiss", exact=True).click()

    admin.reads("The copy went to the archive.")
    expect(admin.page.get_by_label("The copy of Opening hours")).to_have_count(0)
    assert hand_edited("listConflicts")["items"] == []
