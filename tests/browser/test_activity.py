"""Activity: who stored, changed and recalled what, live."""

from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.browser.stores import lacks_markup, remember
from tests.support.server import Client, ServerProcess

MARKUP = "<img src=x onerror=document.title='owned'>"


def lines(person: Person) -> Locator:
    return person.page.get_by_role("list", name="Activity").get_by_role("listitem")


def test_what_agents_do_appears_while_one_looks(
    admin: Person, server: ServerProcess, store: Client
) -> None:
    entry_id = remember(store, f"Tides {MARKUP}")
    admin.visit("Activity")
    expect(lines(admin).first).to_contain_text("admin stored")
    expect(lines(admin).first).to_contain_text("Tides")
    lacks_markup(admin)

    with server.client("projA", key="qms_key_of_the_reader_for_tests") as agent:
        agent("searchEntries", query={"text": "tides"})
    expect(lines(admin).first).to_contain_text("reader found")
    store("patchEntry", id=entry_id, patch={"priority": 7})
    expect(lines(admin).first).to_contain_text("admin changed")

    admin.field("Agent or user").select_option("reader")
    expect(lines(admin).first).to_contain_text("reader found")
    lines(admin).first.get_by_role("link", name="Tides").click()
    expect(admin.panel()).to_contain_text("Tides")
