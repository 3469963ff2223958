"""Users and keys: made, listed, rotated, revoked, and the last admin kept."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import lacks_markup
from tests.support.server import ServerProcess

MARKUP = "<img src=x onerror=document.title='owned'>"


def card(person: Person, user: str) -> Locator:
    return person.page.get_by_role("region", name=user, exact=True)


def make_user(person: Person, name: str, tier: str = "reader") -> None:
    person.press("New user")
    person.field("Name").fill(name)
    person.dialog().get_by_label("Tier").select_option(tier)
    person.press("Create user")
    expect(card(person, name)).to_be_visible()


def make_key(person: Person, user: str, label: str) -> str:
    card(person, user).get_by_role("button", name="New key").click()
    person.dialog().get_by_label("Label").fill(label)
    person.press("Create key")
    key = person.dialog().get_by_label("New key", exact=True).inner_text()
    person.press("Done")
    return key


def test_a_new_user_comes_in_with_the_key_that_is_shown_once(
    people: People, admin: Person, server: ServerProcess
) -> None:
    admin.visit("Users and keys")
    make_user(admin, "nadia", "curator")

    key = make_key(admin, "nadia", "laptop")

    assert key.startswith("qms_")
    expect(card(admin, "nadia")).to_contain_text("laptop")
    assert key not in admin.page.content()
    newcomer = people()
    newcomer.sign_in(key)
    newcomer.reads("You are signed in as curator")
    card(admin, "nadia").get_by_role("button", name="Revoke").click()
    admin.dialog().get_by_role("button", name="Revoke").click()
    expect(card(admin, "nadia")).to_contain_text("No keys yet")
    with server.client(key=key) as client:
        assert client.fails("health").status == 401


def test_a_rotated_key_leaves_the_old_one_until_it_is_revoked(admin: Person) -> None:
    admin.visit("Users and keys")
    make_user(admin, "rota")
    make_key(admin, "rota", "agent")

    card(admin, "rota").get_by_role("button", name="Rotate").click()
    expect(admin.dialog().get_by_label("Label")).to_have_value("agent")
    admin.press("Create key")
    admin.reads("The old key works until you revoke it")
    admin.press("Done")

    expect(card(admin, "rota").get_by_role("button", name="Revoke")).to_have_count(2)


def test_a_user_gets_another_tier_in_one_project(admin: Person, server: ServerProcess) -> None:
    admin.visit("Users and keys")
    make_user(admin, "listed")
    key = make_key(admin, "listed", "x")

    card(admin, "listed").get_by_role("button", name="Projects").click()
    admin.dialog().get_by_label("closed").select_option("writer")
    admin.press("Save")

    expect(card(admin, "listed")).to_contain_text("closed: writer")
    with server.client("closed", key=key) as client:
        assert client("listEntries")["items"] == []


def test_the_last_admin_is_warned_about_and_stays(admin: Person) -> None:
    admin.visit("Users and keys")

    expect(card(admin, "admin")).to_contain_text("The only admin with a valid key")
    expect(admin.page.get_by_role("button", name="Remove admin")).to_be_disabled()
    admin.expects("status of 409")
    card(admin, "admin").get_by_role("button", name="Tier").click()
    admin.dialog().get_by_label("Tier").select_option("reader")
    admin.press("Change tier")

    expect(admin.dialog().get_by_role("alert")).to_be_visible()


@pytest.mark.attack("56")
def test_markup_in_the_label_of_a_key_is_text(admin: Person) -> None:
    admin.visit("Users and keys")
    make_user(admin, "markup")
    make_key(admin, "markup", MARKUP)

    lacks_markup(admin)

    admin.page.get_by_role("button", name="Remove markup").click()
    lacks_markup(admin)
    admin.press("Remove")
    expect(card(admin, "markup")).to_have_count(0)


def test_a_key_that_was_not_copied_is_asked_about_before_it_disappears(admin: Person) -> None:
    admin.visit("Users and keys")
    make_user(admin, "careful")
    card(admin, "careful").get_by_role("button", name="New key").click()
    admin.press("Create key")
    shown = admin.dialog().get_by_label("New key", exact=True)
    expect(shown).to_be_visible()

    for _ in range(3):
        admin.page.keyboard.press("Escape")
    admin.reads("The key was not copied and cannot be shown again.")
    admin.press("Go back")
    expect(shown).to_be_visible()
    admin.dialog().get_by_role("button", name="Close").click()
    admin.dialog().get_by_role("alert").get_by_role("button", name="Close").click()

    expect(admin.dialog()).to_have_count(0)


def test_a_copied_key_closes_without_a_question(people: People) -> None:
    person = people.signed_in()
    person.context.grant_permissions(["clipboard-read", "clipboard-write"])
    person.visit("Users and keys")
    card(person, "admin").get_by_role("button", name="New key").click()
    person.press("Create key")

    person.press("Copy key")
    person.reads("Copied.")
    person.page.keyboard.press("Escape")

    expect(person.dialog()).to_have_count(0)
