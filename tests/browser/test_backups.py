"""Backups: run now, verified, restored after a look at what changes, pruned."""

import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import ZONE
from tests.browser.person import Person
from tests.browser.stores import ids_of, lacks_markup, remember
from tests.support.server import Client, ServerProcess

MARKUP = "<img src=x onerror=document.title='owned'>"


def instant(utc: str) -> datetime:
    """Return a moment as the clock of the browser shows it."""
    return datetime.fromisoformat(utc).astimezone(ZoneInfo(ZONE))


def rows(person: Person) -> Locator:
    table = person.page.get_by_role("region", name="Backups")
    return table.get_by_role("row").filter(has=person.page.get_by_role("button", name="Restore"))


def open_backups(person: Person) -> None:
    person.open("#/backups?project=projA")
    expect(person.heading("Backups")).to_be_visible()
    expect(person.page.get_by_role("status", name="Loading")).to_have_count(0)


def run_now(person: Person, mode: str, expected: int) -> None:
    person.page.get_by_label("Mode").select_option(mode)
    person.press("Run now")
    expect(rows(person)).to_have_count(expected)


def test_a_backup_is_made_verified_and_brought_back(admin: Person, store: Client) -> None:
    kept = remember(store, "Was there")
    open_backups(admin)
    before = rows(admin).count()
    run_now(admin, "full", before + 1)

    rows(admin).first.get_by_role("button", name="Verify").click()
    expect(rows(admin).first).to_contain_text("verified")
    later = remember(store, "Came later")
    store("deleteEntry", id=kept)
    rows(admin).first.get_by_role("button", name="Restore").click()
    expect(admin.dialog()).to_contain_text("1 entry will be restored")
    leaving = admin.dialog().get_by_label("will be removed (did not exist yet)")
    expect(leaving).to_contain_text(later)
    leaving.locator("summary").click()
    expect(leaving.get_by_label(f"Changes of {later}")).to_contain_text('-   "title": "Came later"')
    assert ids_of(store) == [later]
    admin.dialog().get_by_role("button", name="Restore").click()

    admin.reads("projA restored")
    assert ids_of(store) == [kept]


def test_old_backups_are_taken_away_after_a_count(admin: Person, store: Client) -> None:
    remember(store, "Backed up")
    open_backups(admin)
    before = rows(admin).count()
    run_now(admin, "full", before + 1)
    run_now(admin, "full", before + 2)

    admin.press("Prune")
    admin.field("Backups to keep").fill("1")
    said = admin.dialog().get_by_role("status")
    expect(said).to_have_text(re.compile(r"^[1-9]\d* backups? will be deleted"))
    gone = int(said.inner_text().split()[0])
    admin.dialog().get_by_role("button", name="Prune").click()

    expect(rows(admin)).to_have_count(before + 2 - gone)


@pytest.mark.attack("56")
def test_a_project_goes_back_to_a_moment_after_a_look_at_the_difference(
    admin: Person, store: Client
) -> None:
    entry_id = remember(store, "Opening hours")
    changed = {"title": MARKUP, "body": {"statement": "at ten"}}
    moment = store("getEntry", id=entry_id)["entry"]["timestamps"]["updatedUtc"]
    open_backups(admin)
    run_now(admin, "full", rows(admin).count() + 1)
    admin.press("Restore to a point in time")
    admin.field("Time").fill("2001-01-01T00:00:00")
    admin.expects("status of 404")
    expect(admin.dialog().get_by_role("alert")).to_contain_text("no backup reaches back")

    store("patchEntry", id=entry_id, patch=changed)
    later = instant(moment) + timedelta(minutes=10)
    admin.field("Time").fill(later.strftime("%Y-%m-%dT%H:%M:%S"))
    expect(admin.dialog()).to_contain_text("No changes.")
    expect(admin.dialog().get_by_role("button", name="Restore")).to_be_disabled()
    lacks_markup(admin)
    admin.page.keyboard.press("Escape")

    rows(admin).first.get_by_role("button", name="Restore").click()
    becoming = admin.dialog().get_by_label("will be reverted")
    becoming.locator("summary").click()
    expect(becoming.get_by_label(f"Changes of {entry_id}")).to_contain_text("- ")
    expect(becoming).to_contain_text(MARKUP)
    lacks_markup(admin)


def test_the_schedule_is_changed_in_words(admin: Person, server: ServerProcess) -> None:
    admin.open("#/backups")
    admin.reads("Daily at 03:00")

    admin.press("Edit")
    admin.field("When").select_option("0 */6 * * *")
    admin.field("Backups to keep").fill("21")
    admin.dialog().get_by_role("button", name="Save").click()

    admin.reads("Every 6 hours")
    admin.reads("last 21 backups")
    text = (server.root / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    assert "0 */6 * * *" in text
    admin.press("Edit")
    admin.field("When").select_option("other")
    admin.field("Cron expression").fill("whenever")
    admin.expects("status of 400")
    admin.dialog().get_by_role("button", name="Save").click()
    expect(admin.dialog().get_by_role("alert")).to_be_visible()
    admin.field("Cron expression").fill("0 3 * * *")
    admin.dialog().get_by_role("button", name="Save").click()
    admin.reads("Daily at 03:00")
