"""Import and export: files looked at first, stored with a report, and written out again."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import ids_of, lacks_markup, remember
from tests.support.server import Client

BATCH = 200
"""So many entries go into one request of an import."""
MARKUP = "<img src=x onerror=document.title='owned'>"


def choose(person: Person, *files: Path) -> None:
    person.field("Files").set_input_files(list(files))


def report(person: Person) -> Locator:
    return person.page.get_by_label("Report")


def exported(person: Person, form: str) -> str:
    person.page.get_by_label("Format").last.select_option(form)
    with person.page.expect_download() as download:
        person.press("Export")
    return Path(download.value.path()).read_text(encoding="utf-8")


@pytest.mark.attack("56")
def test_a_file_is_tried_first_and_then_stored_with_a_report(
    people: People, store: Client, tmp_path: Path
) -> None:
    remember(store, "Known", id="known")
    lines = [
        {"id": "known", "kind": "fact", "body": "another text"},
        {"id": "fresh", "kind": "fact", "title": "Fresh", "body": {"text": "it is new"}},
        {"kind": MARKUP, "body": "no such kind"},
    ]
    file = tmp_path / "memories.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in lines)
    file.write_text(f"{text}not JSON {MARKUP}\n", encoding="utf-8")
    writer = people.signed_in("writer")
    writer.open("#/transfer/projA")

    choose(writer, file)
    writer.press("Dry run")
    writer.reads("Dry run: nothing was stored.")
    expect(report(writer)).to_contain_text("Would be stored1")
    expect(writer.page.get_by_label("Errors")).to_contain_text("line 4")
    lacks_markup(writer)
    assert len(ids_of(store)) == 1
    writer.press("Import")

    writer.reads("Import finished.")
    expect(report(writer)).to_have_text("Found3 memoriesStored1Already existed1Failed2")
    expect(writer.page.get_by_label("Warnings")).to_contain_text("body.text was taken as")
    assert sorted(ids_of(store)) == ["projA:fresh", "projA:known"]
    assert store("getEntry", id="known")["entry"]["body"]["statement"] == "Known is so"


def test_an_import_that_breaks_off_says_what_is_stored_already(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    admin.expects("ERR_FAILED")
    file = tmp_path / "memories.jsonl"
    lines = [{"kind": "note", "body": f"number {number}"} for number in range(BATCH + 1)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    admin.open("#/transfer/projA")
    batches: list[Route] = []

    def let_one_pass(route: Route) -> None:
        batches.append(route)
        if len(batches) == 1:
            route.continue_()
        else:
            route.abort()

    admin.page.route("**/bulkImport", let_one_pass)
    choose(admin, file)
    admin.press("Import")

    admin.reads(f"{BATCH} entries were stored before the error")
    assert store("stats")["entries"] == BATCH


def test_what_is_there_is_replaced_only_when_that_is_asked_for(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    remember(store, "Known", id="known")
    file = tmp_path / "notes.csv"
    file.write_text("id,kind,text\nknown,fact,changed by the table\n", encoding="utf-8")
    admin.open("#/transfer/projA")

    choose(admin, file)
    expect(admin.page.get_by_label("Format").first).to_have_value("csv")
    admin.field("Replace existing entries").check()
    admin.press("Import")

    expect(report(admin)).to_contain_text("Replaced1")
    entry = store("getEntry", id="known")["entry"]
    assert entry["body"]["statement"] == "changed by the table"


def test_an_export_is_a_file_that_loses_nothing(people: People, store: Client) -> None:
    kept = [remember(store, f"Exported {number}", tags=["x"]) for number in range(3)]
    remember(store, "Left out")
    reader = people.signed_in("reader")
    reader.open("#/transfer/projA")
    expect(reader.heading("Import and export")).to_be_visible()
    expect(reader.page.get_by_role("button", name="Import")).to_have_count(0)

    reader.field("Tag").fill("x")
    lines = exported(reader, "jsonl").splitlines()

    reader.reads("3 entries exported.")
    assert [json.loads(line)["id"] for line in lines] == kept
    assert len(json.loads(exported(reader, "json"))["entries"]) == len(kept)
    assert exported(reader, "csv").startswith("id,kind,title")


def test_a_file_that_is_no_such_format_says_why(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    admin.expects("status of 400")
    file = tmp_path / "table.csv"
    file.write_text("name,size\na,1\n", encoding="utf-8")
    admin.open("#/transfer/projA")

    choose(admin, file)
    admin.press("Dry run")

    admin.reads("no column is the text of the memories")
    admin.field("Text column").fill("name")
    admin.press("Dry run")
    expect(report(admin)).to_contain_text("Would be stored1")
    assert ids_of(store) == []
