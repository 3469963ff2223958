"""The command palette: pages, projects, entries and actions, by keyboard alone."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import remember
from tests.support.server import Client


def chosen(person: Person) -> Locator:
    return person.dialog().get_by_role("option", selected=True)


def call_up(person: Person, text: str) -> None:
    person.page.keyboard.press("Control+k")
    type_into(person, text)


def type_into(person: Person, text: str) -> None:
    expect(person.dialog().get_by_role("combobox")).to_be_focused()
    person.page.keyboard.type(text)


def test_a_page_is_opened_by_its_name(admin: Person) -> None:
    call_up(admin, "backu")
    expect(chosen(admin)).to_have_text("Backups")
    admin.page.keyboard.press("Enter")

    expect(admin.heading("Backups")).to_be_visible()
    expect(admin.dialog()).to_have_count(0)


def test_an_entry_is_found_and_opened(admin: Person, store: Client) -> None:
    entry_id = remember(store, "Quartz crystal oscillator")
    admin.open("#/archive/projA")
    expect(admin.heading("Archive")).to_be_visible()

    call_up(admin, "quartz")
    expect(chosen(admin)).to_contain_text("Quartz crystal oscillator")
    admin.page.keyboard.press("Enter")

    expect(admin.panel()).to_contain_text("Quartz crystal oscillator is so")
    assert entry_id.partition(":")[2] in admin.page.url


def test_a_project_is_changed_and_the_page_stays(admin: Person) -> None:
    admin.open("#/archive/projA")
    expect(admin.heading("Archive")).to_be_visible()

    call_up(admin, "projb")
    expect(chosen(admin)).to_have_text("projB")
    admin.page.keyboard.press("Enter")

    expect(admin.page).to_have_url(re.compile("#/archive/projB"))


def test_arrows_choose_and_an_action_runs(admin: Person) -> None:
    call_up(admin, "new")
    expect(chosen(admin)).to_have_text("New entry")
    admin.page.keyboard.press("ArrowDown")
    expect(chosen(admin)).to_have_text("New project")
    admin.page.keyboard.press("Enter")

    expect(admin.dialog().get_by_role("heading", name="New project")).to_be_visible()
    admin.page.keyboard.press("Escape")
    expect(admin.dialog()).to_have_count(0)
    expect(admin.page).to_have_url(re.compile("#/projects$"))


def test_unsaved_input_is_asked_about(admin: Person, store: Client) -> None:
    admin.open("#/entries/projA?new=note")
    admin.field("Text").fill("not saved")

    call_up(admin, "logs")
    expect(chosen(admin)).to_have_text("Logs and audit")
    admin.page.keyboard.press("Enter")

    expect(admin.dialog().get_by_role("heading", name="Leave without saving?")).to_be_visible()


def test_it_offers_nothing_that_the_tier_does_not_allow(people: People) -> None:
    reader = people.signed_in("reader")

    reader.press("Go to or run")
    type_into(reader, "new")

    reader.reads("Nothing found.")
    reader.page.keyboard.press("Escape")
    expect(reader.dialog()).to_have_count(0)
