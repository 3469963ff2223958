"""Projects: made, changed, removed with the name typed, and clients connected to them."""

import pytest
from playwright.sync_api import Locator, expect

from qms.config.settings import Toolset
from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import lacks_markup
from tests.support.house import key_of
from tests.support.server import ServerProcess

MARKUP = "<svg onload=document.title='owned'>"


def card(person: Person, title: str) -> Locator:
    return person.page.get_by_role("region", name=title, exact=True)


def make_project(person: Person, slug: str, name: str) -> None:
    person.press("New project")
    person.field("Slug").fill(slug)
    person.field("Name").fill(name)
    person.press("Create project")
    expect(card(person, name)).to_be_visible()


def remove_project(person: Person, slug: str) -> None:
    person.press(f"Remove {slug}")
    person.field(f"Type {slug} to confirm").fill(slug)
    person.press("Remove project")


def test_a_project_is_made_changed_and_removed_with_its_name_typed(
    admin: Person, server: ServerProcess
) -> None:
    admin.visit("Projects")
    make_project(admin, "garden", "The garden")
    server.call("garden", "upsertEntry", entry={"kind": "note", "body": "roses"})

    admin.press("Edit garden")
    admin.dialog().get_by_label("Private: only listed users have access").check()
    admin.dialog().get_by_label("Maximum entries").fill("500")
    admin.dialog().get_by_label("system", exact=True).first.check()
    admin.press("Save")
    for text in ("private", "500 entries", "system"):
        expect(card(admin, "The garden")).to_contain_text(text)
    admin.press("Remove garden")
    expect(admin.dialog().get_by_role("button", name="Remove project")).to_be_disabled()
    admin.field("Type garden to confirm").fill("garden")
    admin.press("Remove project")

    expect(card(admin, "The garden")).to_have_count(0)
    kept = list(server.root.glob("Backups/*-removed/garden/entries.jsonl"))
    assert len(kept) == 1
    assert "roses" in kept[0].read_text(encoding="utf-8")


def test_a_client_is_connected_with_a_snippet_and_a_live_test(admin: Person) -> None:
    admin.expects("status of 401")
    admin.visit("Projects")
    card(admin, "projA").get_by_role("button", name="Connect").click()
    snippet = admin.dialog().get_by_label("The snippet")

    for client, sign in (
        ("claude-code", "claude mcp add --transport http"),
        ("claude-desktop", '"bridge"'),
        ("cursor", "mcpServers"),
        ("vscode", '"servers"'),
        ("codex", "bearer_token_env_var"),
        ("gemini", "httpUrl"),
        ("windsurf", "serverUrl"),
    ):
        admin.dialog().get_by_label("Client", exact=True).select_option(client)
        expect(snippet).to_contain_text(sign)
    admin.dialog().get_by_label("Transport").select_option("bridge")
    expect(snippet).to_contain_text("QMS_KEY")
    admin.field("Key for this client").fill("qms_wrong")
    admin.press("Test connection")
    expect(admin.dialog().get_by_role("alert")).to_contain_text("Invalid API key")
    admin.press("Create a key")
    expect(admin.field("Key for this client")).not_to_have_value("qms_wrong")
    admin.press("Test connection")

    admin.reads("Connected: ")
    admin.press("Copy snippet")
    admin.open("#/users")
    agent = admin.page.get_by_role("region", name="windsurf", exact=True)
    expect(agent).to_contain_text("writer")
    expect(agent.get_by_role("button", name="Revoke")).to_have_count(1)


def test_a_dialog_begins_at_its_first_field_and_says_what_was_copied(admin: Person) -> None:
    admin.context.grant_permissions(["clipboard-read", "clipboard-write"])
    admin.open("#/projects")
    admin.page.get_by_role("button", name="Connect").first.click()

    expect(admin.field("Client")).to_be_focused()
    admin.press("Copy snippet")
    expect(admin.dialog()).to_contain_text("Copied.")
    assert "claude mcp add" in admin.page.evaluate("navigator.clipboard.readText()")


def test_whoever_is_no_admin_connects_but_changes_nothing(people: People) -> None:
    person = people.signed_in("reader")
    person.visit("Projects")
    expect(card(person, "projA")).to_contain_text("reader")
    expect(card(person, "closed")).to_have_count(0)
    expect(person.page.get_by_role("button", name="New project")).to_have_count(0)
    expect(person.page.get_by_role("button", name="Edit projA")).to_have_count(0)

    card(person, "projA").get_by_role("button", name="Connect").click()
    expect(person.page.get_by_role("button", name="Create a key")).to_have_count(0)
    person.field("Key for this client").fill(key_of("reader"))
    person.press("Test connection")

    person.reads("Connected: ")


@pytest.mark.attack("56")
def test_markup_in_the_name_of_a_project_is_text(admin: Person) -> None:
    admin.visit("Projects")
    make_project(admin, "marked", MARKUP)

    lacks_markup(admin)

    remove_project(admin, "marked")
    expect(card(admin, MARKUP)).to_have_count(0)


def test_an_empty_project_gets_another_slug_and_a_filled_one_another_name(
    admin: Person, server: ServerProcess
) -> None:
    admin.visit("Projects")
    make_project(admin, "sketch", "A sketch")
    admin.press("Rename sketch")
    admin.field("Slug").fill("drawing")
    admin.dialog().get_by_role("button", name="Rename").click()
    expect(card(admin, "A sketch")).to_contain_text("drawing")
    server.call("drawing", "upsertEntry", entry={"kind": "note", "body": "lines"})

    admin.open("#/overview")
    admin.visit("Projects")
    admin.press("Rename drawing")
    expect(admin.field("Slug")).to_be_disabled()
    expect(admin.dialog()).to_contain_text("1 entry id")
    admin.field("Name").fill("The drawing")
    admin.dialog().get_by_role("button", name="Rename").click()

    expect(card(admin, "The drawing")).to_contain_text("1 entry")
    remove_project(admin, "drawing")
    expect(card(admin, "The drawing")).to_have_count(0)


def test_a_project_that_is_closed_to_the_admin_keeps_its_slug_and_takes_a_name(
    admin: Person,
) -> None:
    admin.visit("Projects")
    make_project(admin, "cellar", "The cellar")
    admin.press("Edit cellar")
    admin.dialog().get_by_label("Private: only listed users have access").check()
    admin.press("Save")
    expect(card(admin, "The cellar")).to_contain_text("no access")

    admin.press("Rename cellar")
    expect(admin.field("Slug")).to_be_disabled()
    expect(admin.dialog()).to_contain_text("add yourself")
    admin.field("Name").fill("The attic")
    admin.dialog().get_by_role("button", name="Rename").click()

    expect(card(admin, "The attic")).to_contain_text("cellar")
    remove_project(admin, "cellar")
    expect(card(admin, "The attic")).to_have_count(0)


def test_who_may_do_what_is_seen_and_changed_at_a_glance(
    admin: Person, server: ServerProcess
) -> None:
    admin.visit("Projects")
    make_project(admin, "vault", "The vault")
    admin.press("Permissions vault")
    table = admin.dialog().get_by_role("region", name="Permissions")
    expect(table.get_by_role("row").filter(has_text="reader").first).to_contain_text("reader")

    admin.field("Tier of reader").select_option("curator")
    admin.field("Tier of writer").select_option("none")
    admin.dialog().get_by_role("button", name="Save").click()

    for text in ("reader: curator", "writer: none"):
        expect(card(admin, "The vault")).to_contain_text(text)
    with server.client("vault", key=key_of("reader")) as reader:
        stored = {"kind": "note", "body": "inside", "curationTier": "curated"}
        assert reader("upsertEntry", entry=stored)["created"]
    remove_project(admin, "vault")
    expect(card(admin, "The vault")).to_have_count(0)


def test_each_toolset_says_what_it_is_for(admin: Person) -> None:
    admin.visit("Projects")
    admin.press("Edit projA")

    allowed = admin.dialog().get_by_role("group", name="Allowed toolsets")

    expect(allowed.get_by_role("checkbox", name="core")).to_have_accessible_description(
        "Store, search and change memories. Every agent needs it."
    )
    names = allowed.get_by_role("checkbox").evaluate_all(
        "boxes => boxes.map((box) => box.closest('label').textContent.trim())"
    )
    assert names == list(Toolset)
