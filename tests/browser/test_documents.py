"""Documents: files dropped or chosen, their chunks, references and changes."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import lacks_markup, remember
from tests.browser.test_accessibility import PHONE, THEMES, violations
from tests.features.documents.conftest import DATA
from tests.support.house import key_of
from tests.support.server import Client

MARKUP = "<img src=x onerror=document.title='owned'>"
TEXT = "# Harbour\n\n" + "".join(
    f"## {name}\n\nThe {name.lower()} has stood beside the water for {years} years.\n\n"
    for name, years in (("Crane", 40), ("Windmill", 90), ("Chapel", 200))
)


def choose(person: Person, *files: Path) -> None:
    person.field("Files").set_input_files(list(files))


def uploaded(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Uploaded files").get_by_role("listitem")


def panel(person: Person) -> Locator:
    return person.page.get_by_role("complementary", name="Document")


def chunks(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Chunks").get_by_role("listitem")


def stored(client: Client) -> list[str]:
    answer = client("storeDocument", content=TEXT, mime="text/markdown", id="harbour")
    ids: list[str] = answer["chunkIds"]
    return ids


def hold_first(person: Person) -> list[Route]:
    """Hold the first upload back until its route is continued."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    person.page.route("**/storeDocument", hold)
    return held


def open_document(person: Person, show: str = "chunks", document: str = "harbour") -> None:
    person.open(f"#/documents/projA?id=projA:{document}&show={show}")
    expect(panel(person)).to_be_visible()


@pytest.mark.attack("56")
def test_chosen_files_are_stored_one_after_another_with_their_outcome(
    people: People, store: Client, tmp_path: Path
) -> None:
    first, second = tmp_path / "harbour.md", tmp_path / "photo.md"
    first.write_text(f"{TEXT}## {MARKUP}\n\nEnd {MARKUP}.\n", encoding="utf-8")
    second.write_bytes(b"\x89PNG\r\n\x1a\n")
    writer = people.signed_in("writer")
    writer.expects("status of 400")
    writer.visit("Documents")
    writer.reads("No documents yet")

    choose(writer, first, second, DATA / "columns.pdf")

    writer.reads("3 of 3 files, 1 failed")
    expect(uploaded(writer).nth(0)).to_contain_text("stored")
    expect(uploaded(writer).nth(1)).to_contain_text("a PNG image")
    expect(uploaded(writer).nth(2)).to_contain_text("stored")
    rows = writer.page.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(rows).to_have_count(2)
    rows.filter(has_text="harbour.md").get_by_role("link").click()
    expect(chunks(writer).last).to_contain_text(f"End {MARKUP}")
    lacks_markup(writer)
    kinds = store("stats")["byKind"]
    assert kinds["document"] == 2


def test_a_file_of_the_same_name_replaces_its_document_unless_that_is_not_wanted(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    file = tmp_path / "harbour.md"
    file.write_text(TEXT, encoding="utf-8")
    admin.open("#/documents/projA")
    choose(admin, file)
    expect(uploaded(admin).nth(0)).to_contain_text("stored")

    choose(admin, file)
    expect(uploaded(admin).nth(1)).to_contain_text("already stored")
    file.write_text(TEXT.replace("Windmill", "Lighthouse"), encoding="utf-8")
    choose(admin, file)
    expect(uploaded(admin).nth(2)).to_contain_text("replaced")
    file.write_text(TEXT.replace("Windmill", "Granary"), encoding="utf-8")
    admin.field("Replace a document with the same file name").uncheck()
    choose(admin, file)
    expect(uploaded(admin).nth(3)).to_contain_text("stored")

    assert store("stats")["byKind"]["document"] == 2


def test_files_are_dropped_on_the_page(admin: Person, store: Client) -> None:
    admin.open("#/documents/projA")
    expect(admin.heading("Documents")).to_be_visible()
    data = base64.b64encode(TEXT.encode()).decode()
    dropped = admin.page.evaluate_handle(
        """(data) => {
            const dropped = new DataTransfer();
            const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
            dropped.items.add(new File([bytes], "dropped.md"));
            return dropped;
        }""",
        data,
    )

    zone = admin.page.locator(".drop-zone")
    zone.dispatch_event("dragover", {"dataTransfer": dropped})
    expect(zone).to_have_class("drop-zone over")
    zone.dispatch_event("drop", {"dataTransfer": dropped})

    expect(uploaded(admin).first).to_contain_text("stored")
    expect(zone).to_have_class("drop-zone ")
    listed = store("listEntries", filter={"kinds": ["document"]}, include="full")["items"]
    assert [one["metadata"]["path"] for one in listed] == ["dropped.md"]


def test_uploads_go_on_while_another_page_is_shown_and_end_with_the_session(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.md" for number in range(3)]
    for number, file in enumerate(files):
        file.write_text(f"{TEXT}\nNumber {number}.\n", encoding="utf-8")
    held = hold_first(admin)
    admin.open("#/documents/projA")
    choose(admin, *files)
    expect(uploaded(admin).first).to_contain_text("reading and storing")
    expect(uploaded(admin).last).to_contain_text("waiting")

    admin.visit("Entries")
    held[0].continue_()
    admin.visit("Documents")

    admin.reads("3 of 3 files")
    assert store("stats")["byKind"]["document"] == 3
    admin.press("Sign out")
    admin.field("API key").fill(key_of("reader"))  # without loading the page again
    admin.press("Sign in")
    admin.visit("Documents")
    expect(admin.page.get_by_role("list", name="Documents")).to_be_visible()
    expect(uploaded(admin)).to_have_count(0)


def test_what_waits_is_cancelled_and_what_runs_is_stored(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    files = [tmp_path / f"{number}.md" for number in range(3)]
    for number, file in enumerate(files):
        file.write_text(f"{TEXT}\nNumber {number}.\n", encoding="utf-8")
    held = hold_first(admin)
    admin.open("#/documents/projA")
    choose(admin, *files)
    expect(uploaded(admin).first).to_contain_text("reading and storing")

    admin.press("Cancel the rest")
    expect(uploaded(admin)).to_have_count(1)
    held[0].continue_()

    admin.reads("1 of 1 file")
    expect(uploaded(admin).first).to_contain_text("stored")
    assert store("stats")["byKind"]["document"] == 1
    admin.press("Clear list")
    expect(uploaded(admin)).to_have_count(0)


def test_a_document_shows_its_chunks_with_page_and_heading(admin: Person, store: Client) -> None:
    data = base64.b64encode((DATA / "columns.pdf").read_bytes()).decode()
    answer = store("storeDocument", data=data, title="Proceedings", id="proceedings")
    open_document(admin, document="proceedings")

    expect(chunks(admin).first).to_contain_text("page 1")
    while admin.page.get_by_role("button", name="Show more").count():
        admin.press("Show more")
        expect(admin.page.get_by_role("button", name="Show more", disabled=True)).to_have_count(0)
    expect(chunks(admin)).to_have_count(answer["chunkCount"])

    ids = stored(store)
    admin.open("#/documents/projA?id=projA:harbour")
    expect(chunks(admin)).to_have_count(len(ids))
    expect(chunks(admin).nth(1)).to_contain_text("Harbour › Windmill")


def test_a_search_leads_to_the_chunk_that_holds_the_sentence(admin: Person, store: Client) -> None:
    ids = stored(store)
    admin.open("#/documents/projA")

    admin.page.get_by_role("searchbox", name="Search in documents").fill("chapel 200 years")
    results = admin.page.get_by_role("list", name="Results").get_by_role("listitem")
    expect(results.first).to_contain_text("Chapel")
    results.first.get_by_role("link").click()

    wanted = admin.page.locator(".chunk.wanted")
    expect(wanted).to_contain_text("The chapel has stood")
    expect(wanted).to_be_focused()
    assert wanted.get_attribute("data-id") == ids[2]


def test_references_are_shown_and_repaired(admin: Person, store: Client) -> None:
    ids = stored(store)
    relation = {"type": "ref", "targetId": "projA:harbour", "metadata": {"chunkId": ids[1]}}
    remember(store, "About the windmill", relations=[relation])
    open_document(admin)
    expect(chunks(admin).nth(1)).to_contain_text("1 reference")
    admin.page.get_by_role("tab", name="References (1)").click()
    refs = admin.page.get_by_role("list", name="References").get_by_role("listitem")
    expect(refs).to_contain_text("About the windmill")
    refs.get_by_role("link", name="Show chunk").click()
    expect(admin.page.locator(".chunk.wanted")).to_contain_text("windmill")

    larger = {"chunkSize": 2000}
    moved = TEXT.replace("## Windmill", "Windmill").replace("## Chapel", "Chapel")
    moved = moved.replace("## Crane", "Crane").replace("Windmill\n\n", "## Windmill\n\nOld.\n\n")
    answer = store(
        "storeDocument", content=moved, mime="text/markdown", id="harbour", options=larger
    )
    assert ids[1] not in answer["chunkIds"]
    open_document(admin, "references")
    admin.page.reload()

    admin.reads("1 reference leads to a chunk that is gone")
    expect(refs).to_contain_text("chunk gone")


def test_the_history_shows_which_chunks_came_and_went(admin: Person, store: Client) -> None:
    changed = TEXT.replace("has stood beside the water for 90", f"{MARKUP} fell after 91")
    for text in (TEXT, changed):
        store("storeDocument", content=text, mime="text/markdown", id="changed")
    open_document(admin, "history", "changed")
    versions = admin.page.get_by_role("list", name="Versions").get_by_role("listitem")
    expect(versions).to_have_count(2)

    versions.first.get_by_role("button", name="Changes").click()

    admin.reads("1 chunk added, 1 chunk removed.")
    changes = admin.page.get_by_label("Changes", exact=True)
    expect(changes.locator(".removed").last).to_contain_text("for 90 years")
    expect(changes.locator(".added").last).to_contain_text("fell after 91 years")
    lacks_markup(admin)


def test_a_document_is_replaced_and_deleted_with_its_chunks_and_comes_back(
    admin: Person, store: Client, tmp_path: Path
) -> None:
    stored(store)
    file = tmp_path / "other-name.md"
    file.write_text(TEXT.replace("Windmill", "Lighthouse"), encoding="utf-8")
    open_document(admin)

    admin.field("Replace with a file").set_input_files(file)
    expect(chunks(admin).nth(1)).to_contain_text("Lighthouse")
    panel(admin).get_by_role("button", name="Delete").click()
    admin.dialog().get_by_role("button", name="Delete").click()
    admin.reads("No documents yet")
    assert store("stats")["entries"] == 0
    admin.press("Undo")

    expect(admin.page.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(
        1
    )
    assert store("getDocument", id="harbour")["chunkCount"] == 3


def test_a_reader_looks_at_documents_and_changes_none(people: People, store: Client) -> None:
    stored(store)
    person = people.signed_in("reader")
    person.visit("Documents")
    expect(person.field("Files")).to_have_count(0)

    person.page.get_by_role("list", name="Documents").get_by_role("link").click()

    expect(chunks(person)).to_have_count(3)
    for name in ("Replace", "Delete"):
        expect(panel(person).get_by_role("button", name=name)).to_have_count(0)
    expect(person.page.get_by_role("tab", name="History")).to_have_count(0)
    person.page.get_by_role("tab", name="References").click()
    person.reads("No memory refers to this document")


def test_the_page_is_used_by_keyboard_alone(admin: Person, store: Client) -> None:
    stored(store)
    admin.open("#/documents/projA")
    expect(admin.page.get_by_role("list", name="Documents")).to_be_visible()

    admin.page.keyboard.press("j")
    admin.page.keyboard.press("Enter")
    expect(panel(admin)).to_be_visible()
    admin.page.get_by_role("tab", name="Chunks").focus()
    admin.page.keyboard.press("ArrowRight")
    admin.reads("No memory refers to this document")
    admin.page.keyboard.press("Escape")
    expect(panel(admin)).to_have_count(0)
    with admin.page.expect_file_chooser():
        admin.page.get_by_role("button", name="Choose files").focus()
        admin.page.keyboard.press("Enter")


def test_a_list_that_cannot_be_loaded_says_why_and_is_tried_again(
    admin: Person, store: Client
) -> None:
    stored(store)
    admin.expects("ERR_FAILED")
    admin.page.route("**/listEntries", lambda route: route.abort())
    admin.open("#/documents/projA")
    admin.reads("Server unreachable")

    admin.page.unroute("**/listEntries")
    admin.press("Retry")

    expect(admin.page.get_by_role("list", name="Documents").get_by_role("listitem")).to_have_count(
        1
    )


def test_a_document_that_is_gone_is_said_to_be(admin: Person, store: Client) -> None:
    admin.expects("status of 404")
    open_document(admin, document="nowhere")

    admin.reads("Not found")
    panel(admin).get_by_role("button", name="Close").click()
    expect(panel(admin)).to_have_count(0)


@pytest.mark.needs("axe")
@pytest.mark.parametrize("size", [(1440, 900), PHONE])
@pytest.mark.parametrize("theme", THEMES)
def test_no_part_of_a_document_has_a_barrier(
    people: People, store: Client, tmp_path: Path, theme: str, size: tuple[int, int]
) -> None:
    ids = stored(store)
    relation = {"type": "ref", "targetId": "projA:harbour", "metadata": {"chunkId": ids[1]}}
    remember(store, "About the windmill", relations=[relation])
    store("storeDocument", content=f"{TEXT}\nMore.", mime="text/markdown", id="harbour")
    person = people.signed_in(dark=THEMES[theme], size=size)
    person.expects("status of 400")
    person.open("#/documents/projA")
    bad = tmp_path / "photo.md"
    bad.write_bytes(b"\x89PNG\r\n\x1a\n")
    choose(person, bad)
    expect(uploaded(person)).to_contain_text("failed")
    assert violations(person) == [], "uploads"

    open_document(person)
    for tab in ("References", "History", "Details", "Chunks"):
        person.page.get_by_role("tab", name=tab).click()
        expect(person.page.locator(".skeleton")).to_have_count(0)
        if tab == "History":
            person.page.get_by_role("button", name="Changes").first.click()
            expect(person.page.get_by_label("Changes", exact=True)).to_be_visible()
        assert violations(person) == [], tab
    panel(person).get_by_role("button", name="Delete").click()
    expect(person.dialog()).to_be_visible()
    assert violations(person) == [], "dialog"
