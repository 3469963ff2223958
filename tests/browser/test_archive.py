"""The archive and the history of an entry: what was, and the way back to it."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import ids_of, lacks_markup, remember
from tests.support.server import Client

MARKUP = "<img src=x onerror=document.title='owned'>"


@pytest.mark.attack("56")
def test_what_was_deleted_is_listed_and_comes_back(people: People, store: Client) -> None:
    entry_id = remember(store, f"Gone {MARKUP}")
    store("deleteEntry", id=entry_id)
    curator = people.signed_in("curator")
    curator.visit("Archive")
    curator.page.get_by_label("Reason").select_option("deleted")
    rows = curator.page.get_by_role("list", name="Archived entries").get_by_role("listitem")
    expect(rows.first).to_contain_text(f"Gone {MARKUP}")
    lacks_markup(curator)
    expect(curator.page.get_by_role("button", name="Purge")).to_have_count(0)

    rows.first.get_by_role("button").click()

    curator.reads("Restored.")
    assert ids_of(store) == [entry_id]


def test_a_page_of_the_archive_that_is_not_known_any_more_begins_again(
    admin: Person, store: Client
) -> None:
    store("deleteEntry", id=remember(store, "Gone"))
    admin.expects("status of 400")

    admin.open("#/archive/projA?cursor=of-a-server-before-its-restart")

    admin.reads("Gone")
    assert "cursor" not in admin.page.url


def test_a_reader_looks_at_the_archive_and_brings_nothing_back(
    people: People, store: Client
) -> None:
    store("purgeArchive", olderThanDays=0)  # a second page would have buttons to turn to it
    store("deleteEntry", id=remember(store, "Seen in passing"))
    person = people.signed_in("reader")

    person.visit("Archive")

    person.reads("Seen in passing")
    expect(person.page.get_by_role("main").get_by_role("button")).to_have_count(0)


def test_an_admin_lets_archived_versions_go_for_good(admin: Person, store: Client) -> None:
    store("deleteEntry", id=remember(store, "To be purged"))
    admin.visit("Archive")

    admin.press("Purge")
    admin.field("Older than (days)").fill("0")
    expect(admin.dialog()).to_contain_text("will be deleted")
    admin.dialog().get_by_role("button", name="Purge").click()

    admin.reads("The archive is empty")
    assert store("archiveStats")["archived"] == 0


@pytest.mark.attack("56")
def test_the_history_shows_what_changed_and_goes_back(admin: Person, store: Client) -> None:
    entry_id = remember(store, "Harbour", body={"statement": f"opens at nine {MARKUP}"})
    store("patchEntry", id=entry_id, patch={"body": {"statement": "opens at ten"}})
    admin.open_entry(entry_id)
    admin.page.get_by_role("tab", name="History").click()
    versions = admin.page.get_by_role("list", name="Versions").get_by_role("listitem")
    expect(versions).to_have_count(2)

    versions.first.get_by_role("button", name="Changes").click()
    changed = admin.page.get_by_label("Changes", exact=True)
    expect(changed.locator(".removed").first).to_contain_text("opens at nine")
    expect(changed.locator(".added").first).to_contain_text("opens at ten")
    lacks_markup(admin)
    admin.press("Restore")

    admin.reads("Version restored")
    assert "opens at nine" in store("getEntry", id=entry_id)["entry"]["body"]["statement"]
