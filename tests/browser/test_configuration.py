"""Configuration: edited as text, checked by the server, compared before it is saved."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.browser.stores import lacks_markup
from tests.support.server import ServerProcess

MARKUP = "<img src=x onerror=document.title='owned'>"


def editor(person: Person) -> Locator:
    return person.page.get_by_role("textbox", name="The configuration")


def append(person: Person, text: str) -> None:
    editor(person).click()
    person.page.keyboard.press("Control+End")
    person.page.keyboard.insert_text(text)


def toml(server: ServerProcess) -> str:
    return (server.root / "QuickMemoryServer.toml").read_text(encoding="utf-8")


def test_a_change_is_compared_saved_and_in_force(admin: Person, server: ServerProcess) -> None:
    admin.visit("Configuration")
    expect(editor(admin)).to_contain_text("[endpoint.projA]")
    assert "sha256" in toml(server)
    assert toml(server).split('sha256 = "')[1][:16] not in admin.page.content()

    append(admin, '\n# by hand\n[endpoint.meadow]\nslug = "meadow"\n')
    admin.reads("Valid.")
    admin.press("Review and save")
    expect(admin.dialog().get_by_label("What changes")).to_contain_text("+ [endpoint.meadow]")
    admin.dialog().get_by_role("button", name="Save").click()

    admin.reads("Saved and applied.")
    assert "# by hand\n[endpoint.meadow]" in toml(server)
    assert server.call("meadow", "listEntries")["items"] == []
    admin.visit("Projects")
    admin.press("Remove meadow")
    admin.field("Type meadow to confirm").fill("meadow")
    admin.press("Remove project")


@pytest.mark.attack("56")
def test_what_is_wrong_is_said_with_its_line_and_cannot_be_saved(
    admin: Person, server: ServerProcess
) -> None:
    before = toml(server)
    admin.visit("Configuration")
    expect(editor(admin)).to_contain_text("[endpoint.projA]")

    append(admin, f'\n[endpoint.wrong]\nslug = "wrong"\nmaxEntries = "{MARKUP}"\n')

    expect(admin.page.get_by_role("alert")).to_contain_text(re.compile(r"Line \d+: .*maxEntries"))
    expect(admin.page.get_by_role("button", name="Review and save")).to_be_disabled()
    lacks_markup(admin)
    append(admin, "\nnonsense\n")
    expect(admin.page.get_by_role("alert")).to_contain_text(re.compile(r"^\s*Line \d+: not valid"))
    admin.press("Discard")
    admin.reads("No changes.")
    assert toml(server) == before


def test_the_form_and_the_file_are_one_draft_with_the_same_errors(
    admin: Person, server: ServerProcess
) -> None:
    before = toml(server)
    admin.visit("Configuration")
    expect(editor(admin)).to_contain_text("[endpoint.projA]")

    admin.field("Days to keep").fill("7")
    expect(editor(admin)).to_contain_text("logMaxDays = 7")
    admin.reads("Valid.")
    admin.field("Backups to keep").fill("-3")
    expect(admin.page.get_by_role("alert")).to_contain_text(re.compile(r"Line \d+: .*keep"))
    expect(admin.field("Backups to keep")).to_have_attribute("aria-invalid", "true")
    expect(admin.page.get_by_role("button", name="Review and save")).to_be_disabled()
    admin.field("Backups to keep").fill("")
    admin.reads("Valid.")
    admin.press("Review and save")
    expect(admin.dialog().get_by_label("What changes")).to_contain_text("+ logMaxDays = 7")
    admin.page.keyboard.press("Escape")
    admin.press("Discard")

    expect(admin.field("Days to keep")).to_have_value("")
    assert toml(server) == before
