"""Logs and audit: filtered, followed, and the chain verified."""

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person
from tests.browser.stores import lacks_markup, remember
from tests.support.server import Client, ServerProcess

MARKUP = "<img src=x onerror=document.title='owned'>"


def test_the_log_is_filtered_by_level_and_words(admin: Person, store: Client) -> None:
    store("health")
    admin.visit("Logs and audit")
    log = admin.page.get_by_role("region", name="The log")
    expect(log).to_be_visible()

    admin.field("Filter lines").fill("no line holds this")
    admin.reads("No matching lines")
    admin.field("Filter lines").fill("rebuilding vectors")

    expect(log.get_by_role("row").nth(1)).to_contain_text("rebuilding vectors")
    expect(admin.page).to_have_url(f"{admin.url}/#/logs?text=rebuilding+vectors")


@pytest.mark.attack("56")
def test_the_log_is_followed_and_shows_markup_as_text(admin: Person, server: ServerProcess) -> None:
    admin.visit("Logs and audit")
    admin.field("Follow").check()
    log = server.root / "logs" / "qms.log"
    with log.open("a", encoding="utf-8") as file:
        line = '{"time":"2026-03-01T12:00:00Z","level":"error","message":"%s","who":"%s"}\n'
        file.write(line % (MARKUP, MARKUP))

    admin.reads(MARKUP)

    lacks_markup(admin)


def test_the_audit_log_is_filtered_and_its_chain_verified(admin: Person, store: Client) -> None:
    entry_id = remember(store, "Written down")
    admin.visit("Logs and audit")
    admin.page.get_by_role("tab", name="Audit").click()
    table = admin.page.get_by_role("region", name="The audit log")
    expect(table).to_contain_text(entry_id)

    admin.field("Command").fill("upsertEntry")
    admin.page.get_by_label("Project", exact=True).last.select_option("projA")
    expect(table.get_by_role("row").nth(1)).to_contain_text("upsertEntry")
    admin.press("Verify hash chain")

    admin.reads("verified: none was changed")


def test_arrow_keys_lead_from_tab_to_tab(admin: Person) -> None:
    admin.open("#/logs")
    admin.page.get_by_role("tab", name="Log", exact=True).focus()

    admin.page.keyboard.press("ArrowRight")
    expect(admin.page.get_by_role("tab", name="Audit")).to_be_focused()
    expect(admin.page.get_by_role("region", name="The audit log")).to_be_visible()
    admin.page.keyboard.press("ArrowRight")
    expect(admin.page.get_by_role("tab", name="Log", exact=True)).to_be_focused()
    admin.page.keyboard.press("End")
    expect(admin.page.get_by_role("tab", name="Audit")).to_have_attribute("aria-selected", "true")
