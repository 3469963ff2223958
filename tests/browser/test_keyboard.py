"""A whole visit without a mouse: sign in, search, edit, approve, sign out."""

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import People
from tests.browser.stores import remember
from tests.support.house import key_of
from tests.support.server import Client

FAR = 60
"""So many steps with the tab key are more than any page has."""


def tab_to(page: Page, role: str, name: str | re.Pattern[str]) -> None:
    # Playwright lists the roles that there are.
    wanted = page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
    expect(wanted).to_be_visible()
    for _ in range(FAR):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the tab key never came to {role} {name!r}")


def test_everything_is_in_reach_of_the_keyboard(people: People, store: Client) -> None:
    remember(store, "Seen by keyboard")
    person = people()
    person.open()
    page, keys = person.page, person.page.keyboard

    expect(person.field("API key")).to_be_focused()
    keys.type(key_of("curator"))
    keys.press("Enter")
    expect(person.heading("Overview")).to_be_visible()

    keys.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    keys.type("seen by keyboard")
    expect(page).to_have_url(re.compile("q=seen"))
    expect(person.rows()).to_have_count(1)
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(person.panel()).to_contain_text("Seen by keyboard is so")

    keys.press("e")
    tab_to(page, "textbox", "Statement")
    keys.press("Control+A")
    keys.type("written without a mouse")
    tab_to(page, "button", "Save")
    keys.press("Enter")
    person.reads("written without a mouse")

    tab_to(page, "link", re.compile("^Review"))
    keys.press("Enter")
    expect(person.heading("Review")).to_be_visible()  # the entry's heading is on both pages
    expect(page.get_by_role("heading", name="Seen by keyboard")).to_be_visible()
    keys.press("a")
    person.reads("Nothing to review")

    tab_to(page, "button", "Sign out")
    keys.press("Enter")
    expect(person.field("API key")).to_be_visible()
    entry = store("listEntries", include="full")["items"][0]
    assert entry["body"]["statement"] == "written without a mouse"
    assert entry["curationTier"] == "curated"
