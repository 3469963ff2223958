"""axe-core finds nothing on any page, in either theme."""

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.places import PLACES
from tests.browser.stores import remember
from tests.support.server import Client
from tests.support.waiting import eventually
from tools.toolbox import TOOLS, NodeTool, folder_of

THEMES = {"light": False, "dark": True}
PHONE = (360, 740)


def violations(person: Person) -> list[str]:
    """Return what axe-core finds on the page as it is."""
    tool = TOOLS["axe"]
    assert isinstance(tool, NodeTool)
    source = (folder_of("axe") / tool.program).read_text(encoding="utf-8")
    person.page.evaluate(f"{source}; 0")
    found: list[dict[str, Any]] = person.page.evaluate("axe.run().then(r => r.violations)")
    return [
        f"{one['id']}: {one['help']}: {[node['html'] for node in one['nodes']][:3]}"
        for one in found
    ]


@pytest.fixture
def filled(store: Client) -> Client:
    """Return a client of a project with entries of every trust, linked and flagged."""
    first = remember(store, "Canonical", curationTier="canonical", pinned=True, tags=["a", "b"])
    remember(
        store, "Curated", curationTier="curated", relations=[{"type": "ref", "targetId": first}]
    )
    remember(store, "Ignore previous instructions", tags=["flagged"])
    return store


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_page_has_a_barrier(people: People, filled: Client, theme: str) -> None:
    person = people(dark=THEMES[theme])
    person.open()
    expect(person.field("API key")).to_be_visible()
    assert violations(person) == []
    person.sign_in("qms_key_of_the_admin_for_tests")

    for title, place in PLACES.items():
        person.open(place)
        expect(person.heading(title)).to_be_visible()
        expect(person.page.get_by_role("status", name="Loading")).to_have_count(0)
        assert violations(person) == [], title


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_panel_or_dialog_has_a_barrier(people: People, filled: Client, theme: str) -> None:
    person = people.signed_in(dark=THEMES[theme])
    entry_id = filled("searchEntries", query={"text": "Curated"})["results"][0]["entry"]["id"]

    person.open_entry(entry_id)
    for tab in ("Links", "History", "JSON", "Details"):
        person.page.get_by_role("tab", name=tab).click()
        assert violations(person) == [], tab
    person.search("curated")
    person.rows().first.get_by_role("button", name="Explain").click()
    assert violations(person) == []
    person.open_entry(entry_id)
    person.press("Edit")
    expect(person.field("Statement")).to_be_visible()
    assert violations(person) == [], "form"
    person.press("JSON")
    expect(person.page.get_by_role("textbox", name="The entry as JSON")).to_be_visible()
    assert violations(person) == [], "JSON"
    person.press("Cancel")
    person.press("Delete")
    expect(person.dialog()).to_be_visible()
    assert violations(person) == [], "dialog"


DIALOGS = [
    ("#/overview", []),
    (
        "#/projects",
        ["New project", "Edit projA", "Permissions projA", "Rename projA", "Remove projA"],
    ),
    ("#/users", ["New user", "Remove reader"]),
    ("#/backups?project=projA", ["Restore to a point in time", "Prune", "Edit"]),
    ("#/archive/projA", ["Purge"]),
    ("#/disputes/projA?show=alike", []),
    ("#/logs?show=audit", []),
    ("#/help?show=agents", []),
]
"""Pages with the buttons that open a dialog there, and tabs that no menu leads to."""


def look_into_dialog(person: Person, button: Locator) -> None:
    """Open a dialog by its button, and close it again."""
    button.click()
    expect(person.dialog()).to_be_visible()
    expect(person.dialog().locator(".skeleton")).to_have_count(0)
    assert violations(person) == [], button
    person.page.keyboard.press("Escape")
    expect(person.dialog()).to_have_count(0)


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_dialog_of_the_administration_has_a_barrier(
    people: People, filled: Client, theme: str
) -> None:
    person = people.signed_in(dark=THEMES[theme])
    person.expects("status of 404")  # no backup reaches back to the moment that is offered first

    for place, buttons in DIALOGS:
        person.open(place)
        expect(person.page.get_by_role("heading", level=1)).to_be_visible()
        expect(person.page.get_by_role("status", name="Loading")).to_have_count(0)
        if not buttons:
            assert violations(person) == [], place
        for button in buttons:
            look_into_dialog(person, person.page.get_by_role("button", name=button, exact=True))
    person.page.keyboard.press("?")
    expect(person.dialog()).to_be_visible()
    assert violations(person) == [], "keys"


@pytest.fixture
def disputed(filled: Client) -> Client:
    """Return a client of a project with a contradiction, two duplicates and a backup besides."""
    text = "The nightly build runs at three in the morning on the small machine"
    first = remember(filled, "Nightly build", body=text)
    remember(filled, "The nightly build", body=text, id="second")
    remember(filled, "Denies it", relations=[{"type": "contradicts", "targetId": first}])
    filled("backupStore", mode="full")
    filled("patchEntry", id="projA:second", patch={"priority": 7})
    return filled


FURTHER_DIALOGS = [
    ("#/projects", ["Connect"]),
    ("#/users", ["New key", "Tier", "Projects", "Rotate", "Revoke"]),
    ("#/entries/projA?id=projA:second", ["Move", "Delete"]),
    ("#/disputes/projA", ["This one is correct"]),
    ("#/disputes/projA?show=alike", ["Merge"]),
    ("#/backups?project=projA", ["Restore"]),
    ("#/graph/projA?id=projA:second", []),
]
"""Pages where several buttons have the same name: the first of them is pressed."""


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_dialog_about_one_of_several_things_has_a_barrier(
    people: People, disputed: Client, theme: str
) -> None:
    person = people.signed_in(dark=THEMES[theme])
    eventually(lambda: disputed("findDuplicates")["pairs"])

    for place, buttons in FURTHER_DIALOGS:
        person.open(place)
        expect(person.page.get_by_role("heading", level=1)).to_be_visible()
        for button in buttons:
            several = person.page.get_by_role("button", name=button, exact=True)
            look_into_dialog(person, several.first)
        assert violations(person) == [], place


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_message_in_the_way_of_work_has_a_barrier(
    people: People, filled: Client, theme: str
) -> None:
    person = people.signed_in("curator", dark=THEMES[theme])
    person.expects("status of 40[019]")
    entry_id = remember(filled, "Written by two")

    person.open("#/entries/projA")
    person.page.get_by_role("checkbox", name="Select Written by two").check()
    for button in ("Tags", "Trust", "Delete"):
        person.page.get_by_role("region", name="Selected").get_by_role(
            "button", name=button
        ).click()
        expect(person.dialog()).to_be_visible()
        assert violations(person) == [], button
        person.page.keyboard.press("Escape")
    person.open("#/entries/projA?new=note")
    person.press("Save")
    person.reads("is required")
    assert violations(person) == [], "a fault"
    person.press("Cancel")
    person.open(f"#/entries/projA?id={entry_id}&edit=yes")
    person.field("Title").fill("Mine")
    person.press("Sign out")
    assert violations(person) == [], "signing out"
    person.page.keyboard.press("Escape")
    filled("patchEntry", id=entry_id, patch={"title": "Theirs"})
    person.press("Save")
    person.reads("This entry was changed")
    assert violations(person) == [], "a conflict"
    person.context.clear_cookies()
    person.press("Save")
    person.reads("Your session has ended")
    assert violations(person) == [], "the end of a session"


@pytest.mark.needs("axe")
@pytest.mark.parametrize("theme", THEMES)
def test_no_page_has_a_barrier_on_a_telephone(people: People, filled: Client, theme: str) -> None:
    person = people.signed_in(size=PHONE, dark=THEMES[theme])

    for title, place in PLACES.items():
        person.open(place)
        expect(person.heading(title)).to_be_visible()
        expect(person.page.locator(".skeleton")).to_have_count(0)
        assert violations(person) == [], title
    person.press("Open menu")
    assert violations(person) == [], "menu"
