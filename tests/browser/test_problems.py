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
        client.care("reloadStore")
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
    hand_edited.care("reloadStore")

    admin.visit("Problems")
    line = admin.page.get_by_label("Line 2", exact=True)
    expect(line).to_have_text(f"not JSON {MARKUP}")
    lacks_markup(admin)
    file.write_text(good, encoding="utf-8")
    hand_edited.care("reloadStore")
    admin.press("Refresh")

    expect(line).to_have_count(0)


def test_a_large_deletion_is_taken_back_by_a_person(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    for number in range(ENTRIES):
        remember(hand_edited, f"Kept {number}")
    folded(server)
    entries_file(server).write_text("", encoding="utf-8")
    hand_edited.care("reloadStore")

    admin.visit("Problems")
    admin.press("Restore the entries")
    admin.dialog().get_by_role("button", name="Restore").click()

    admin.reads("Entries restored")
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
    expect(admin.page.get_by_label("Current entry Opening hours, compared")).to_contain_text(
        "Opening hours is so"
    )
    lacks_markup(admin)
    admin.press("Dismiss")
    admin.dialog().get_by_role("button", name="Dismiss", exact=True).click()

    admin.reads("The copy moved to the archive.")
    expect(admin.page.get_by_label("The copy of Opening hours")).to_have_count(0)
    assert hand_edited.care("listConflicts")["items"] == []


@pytest.mark.attack("56")
def test_a_bad_line_is_fixed_in_its_place(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    admin.expects("status of 400")
    remember(hand_edited, "Good one", id="good")
    folded(server)
    bad = '{"kind":"fact","title":"Mended","body":{"statement":"half ' + MARKUP
    file = entries_file(server)
    file.write_text(f"{bad}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
    hand_edited.care("reloadStore")
    admin.open("#/problems?project=projB")

    admin.page.get_by_role("link", name="Fix line 1 of projB").click()
    editor = admin.page.get_by_role("textbox", name="Text of line 1")
    expect(editor).to_contain_text("half <img")
    save = admin.dialog().get_by_role("button", name="Save line")
    expect(save).to_be_disabled()
    editor.click()
    admin.page.keyboard.press("Control+End")
    admin.page.keyboard.insert_text('"},"priority":99}')
    save.click()
    expect(admin.dialog().get_by_role("alert")).to_contain_text("priority")
    editor.click()
    admin.page.keyboard.press("Control+End")
    for _ in range(2):
        admin.page.keyboard.press("Backspace")
    admin.page.keyboard.insert_text("}")
    save.click()

    admin.reads("Line saved as an entry.")
    admin.reads("No problems")
    lacks_markup(admin)
    first, second = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (first["title"], first["priority"], second["id"]) == ("Mended", 9, "projB:good")


def test_a_line_that_is_no_use_is_taken_out(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    remember(hand_edited, "Good one")
    folded(server)
    file = entries_file(server)
    good = file.read_text(encoding="utf-8")
    file.write_text(f"{good}<<<<<<< mine\n", encoding="utf-8")
    hand_edited.care("reloadStore")

    admin.open("#/problems?project=projB&line=2")
    expect(admin.dialog().get_by_role("note")).to_be_visible()
    admin.field("Remove the line instead").check()
    admin.dialog().get_by_role("button", name="Remove line").click()

    admin.reads("Line removed.")
    assert file.read_text(encoding="utf-8") == good


def test_the_copy_of_a_conflict_takes_the_place_of_what_lives(
    admin: Person, server: ServerProcess, hand_edited: Client
) -> None:
    entry_id = remember(hand_edited, "Opening hours")
    lost = {"id": entry_id, "kind": "fact", "title": "Hours", "body": {"statement": "at nine"}}
    copy = {"id": entry_id, "reason": "edited by hand", "entry": lost}
    copies = store_folder(server.root, "projB") / ".qms" / "conflicts.jsonl"
    copies.write_text(json.dumps(copy) + "\n", encoding="utf-8")

    admin.open("#/problems?project=projB")
    admin.press("Use the copy")
    admin.dialog().get_by_role("button", name="Use the copy").click()

    admin.reads("The copy is the current version now.")
    assert hand_edited("getEntry", id=entry_id)["entry"]["body"] == {"statement": "at nine"}
    assert hand_edited.care("listConflicts")["items"] == []
