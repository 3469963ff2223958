"""Messages in the top bar: they cover nothing, and what they offer ends when it is void."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import ids_of, remember
from tests.support.server import Client

COVERED = """() => {
    const message = document.querySelector(".toast-note").getBoundingClientRect();
    const meets = (a) => a.left < message.right && a.right > message.left
        && a.top < message.bottom && a.bottom > message.top;
    return [...document.querySelectorAll("button, a, input, select, textarea")]
        .filter((one) => !one.closest(".toast-note") && one.checkVisibility()
            && meets(one.getBoundingClientRect()))
        .map((one) => one.outerHTML);
}"""
"""What one can press and a message lies on."""


def offer(person: Person) -> Locator:
    return person.page.get_by_role("button", name="Undo")


def delete(person: Person, entry_id: str) -> None:
    person.open_entry(entry_id)
    person.press("Delete")
    person.dialog().get_by_role("button", name="Delete").click()
    expect(offer(person)).to_be_visible()


@pytest.mark.parametrize("size", [(1440, 900), (390, 800)])
def test_a_message_covers_nothing_that_can_be_pressed(
    people: People, store: Client, size: tuple[int, int]
) -> None:
    for number in range(12):
        remember(store, f"Listed {number}")
    person = people.signed_in(size=size)

    delete(person, remember(store, "A title that takes a good part of one line of a message"))

    assert person.page.evaluate(COVERED) == []
    person.page.mouse.wheel(0, 600)
    assert person.page.locator(".toast-note").is_visible()


def test_an_offer_ends_when_the_entry_is_back_by_another_way(admin: Person, store: Client) -> None:
    entry_id = remember(store, "Brought back elsewhere")
    delete(admin, entry_id)

    admin.open("#/archive/projA")
    admin.page.get_by_role("button", name="Restore Brought back elsewhere").first.click()

    admin.reads("Restored.")
    expect(offer(admin)).to_have_count(0)
    assert ids_of(store) == [entry_id]


def test_an_offer_does_not_outlive_the_session(people: People, store: Client) -> None:
    person = people.signed_in("curator")
    delete(person, remember(store, "Deleted before leaving"))

    person.press("Sign out")
    person.field("API key").fill("qms_key_of_the_admin_for_tests")
    person.press("Sign in")

    expect(person.heading("Entries")).to_be_visible()
    expect(offer(person)).to_have_count(0)
