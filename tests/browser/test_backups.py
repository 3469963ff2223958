"""Backups: run now, verified, restored after a look at what changes, pruned."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.browser.stores import ids_of, remember
from tests.support.server import Client


def rows(person: Person) -> Locator:
    table = person.page.get_by_role("region", name="Backups")
    return table.get_by_role("row").filter(has=person.page.get_by_role("button", name="Restore"))


def run_now(person: Person, mode: str, expected: int) -> None:
    person.page.get_by_label("Mode").select_option(mode)
    person.press("Run now")
    expect(rows(person)).to_have_count(expected)


def test_a_backup_is_made_verified_and_brought_back(admin: Person, store: Client) -> None:
    kept = remember(store, "Was there")
    admin.open("#/backups?project=projA")
    expect(admin.heading("Backups")).to_be_visible()
    expect(admin.page.get_by_role("status", name="Loading")).to_have_count(0)
    before = rows(admin).count()
    run_now(admin, "full", before + 1)

    rows(admin).first.get_by_role("button", name="Verify").click()
    expect(rows(admin).first).to_contain_text("verified")
    later = remember(store, "Came later")
    store("deleteEntry", id=kept)
    rows(admin).first.get_by_role("button", name="Restore").click()
    expect(admin.dialog()).to_contain_text("1 entry comes back")
    expect(admin.dialog().get_by_label("leaves, as it was not there yet")).to_contain_text(later)
    assert ids_of(store) == [later]
    admin.dialog().get_by_role("button", name="Restore").click()

    admin.reads("projA is as it was then")
    assert ids_of(store) == [kept]


def test_old_backups_are_taken_away_after_a_count(admin: Person, store: Client) -> None:
    remember(store, "Backed up")
    admin.open("#/backups?project=projA")
    expect(admin.heading("Backups")).to_be_visible()
    expect(admin.page.get_by_role("status", name="Loading")).to_have_count(0)
    before = rows(admin).count()
    run_now(admin, "full", before + 1)
    run_now(admin, "full", before + 2)

    admin.press("Prune")
    admin.field("Keep so many").fill("1")
    said = admin.dialog().get_by_role("status")
    expect(said).to_have_text(re.compile(r"^[1-9]\d* backups? would go"))
    gone = int(said.inner_text().split()[0])
    admin.dialog().get_by_role("button", name="Prune").click()

    expect(rows(admin)).to_have_count(before + 2 - gone)
