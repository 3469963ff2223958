"""What is around every page: theme, keys, menu, tiers, small screens."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.places import PLACES
from tests.browser.stores import remember
from tests.support.server import Client, ServerProcess

PHONE = (360, 740)

TRANSFER = "Import and export"
MENUS = {
    "reader": [
        "Overview",
        "Entries",
        "Documents",
        "Graph",
        "Archive",
        TRANSFER,
        "Projects",
        "API console",
        "Help",
    ],
    "writer": [
        "Overview",
        "Entries",
        "Documents",
        "Graph",
        "Archive",
        TRANSFER,
        "Projects",
        "API console",
        "Help",
    ],
    "curator": [
        "Overview",
        "Entries",
        "Documents",
        "Review",
        "Disputes",
        "Graph",
        "Archive",
        TRANSFER,
        "Projects",
        "API console",
        "Help",
    ],
    "admin": [
        "Overview",
        "Entries",
        "Documents",
        "Review",
        "Disputes",
        "Graph",
        "Archive",
        TRANSFER,
        "Activity",
        "Projects",
        "Users and keys",
        "Backups",
        "Problems",
        "Configuration",
        "Logs and audit",
        "API console",
        "Help",
    ],
}


IS_ON_TOP = """element => {
    const { x, y, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(x + 2, y + height / 2));
}"""


CUT_OFF = """() => [...document.querySelectorAll("td, td button")]
    .filter((element) => element.getBoundingClientRect().right > innerWidth)
    .map((element) => element.textContent)"""


def on_top(element: Locator) -> bool:
    """Say whether nothing covers an element."""
    return bool(element.evaluate(IS_ON_TOP))


@pytest.fixture
def long_name(server: ServerProcess) -> Iterator[None]:
    """Have a project whose name and description need more room than there is."""
    console = server.connect()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    settings = {"name": "A name that goes on for quite a while", "description": "x" * 300}
    body = json.dumps({"slug": "long-name", "settings": settings})
    for method, path, content in (
        ("POST", "/admin/projects", body),
        ("DELETE", "/admin/projects/long-name?confirm=long-name", None),
    ):
        console.request(method, path, content, headers)
        answer = console.getresponse()
        assert answer.status == 200, answer.read()
        answer.read()
        if method == "POST":
            yield
    console.close()


@pytest.mark.parametrize("user", MENUS)
def test_each_tier_sees_the_pages_that_it_may_use(people: People, user: str) -> None:
    person = people.signed_in(user)

    items = person.page.get_by_role("navigation", name="Pages").get_by_role("listitem")

    expect(items).to_have_text([re.compile(rf"^{one}( ?\d+ waiting)?$") for one in MENUS[user]])
    expect(person.page.get_by_text(user, exact=True).first).to_be_visible()


def test_the_address_of_a_page_that_is_not_for_one_says_so(people: People) -> None:
    person = people.signed_in("reader")

    person.open("#/review/projA")

    person.reads("Page not found")


@pytest.mark.parametrize("project", ["closed", "nonsense"])
def test_a_project_that_is_not_open_is_not_replaced_by_another_one(
    people: People, project: str
) -> None:
    person = people.signed_in("reader")

    person.open(f"#/entries/{project}?q=secret")

    person.reads("Project not found")
    assert person.page.url.endswith(f"#/entries/{project}?q=secret")


def test_a_page_that_did_not_come_is_asked_for_again(admin: Person) -> None:
    admin.expects("net::ERR_FAILED|dynamically imported module")
    for lost in ("**/pages/projects.js", "**/health"):
        admin.page.route(lost, lambda route: route.abort())

    admin.page.get_by_role("link", name="Projects").click()
    admin.reads("Cannot reach the server. Check that it is running, then try again.")
    for lost in ("**/pages/projects.js", "**/health"):
        admin.page.unroute(lost)
    admin.press("Retry")

    expect(admin.heading("Projects")).to_be_visible()


def test_the_theme_is_the_systems_until_one_is_chosen(people: People) -> None:
    person = people.signed_in(dark=True)
    root = person.page.locator("html")
    expect(root).to_have_attribute("data-bs-theme", "dark")

    person.press("Theme: system. Change to light")
    expect(root).to_have_attribute("data-bs-theme", "light")
    person.page.reload()

    expect(root).to_have_attribute("data-bs-theme", "light")
    expect(person.heading("Overview")).to_be_visible()


def test_slash_searches_from_anywhere(admin: Person) -> None:
    admin.page.keyboard.press("/")

    expect(admin.page.get_by_role("searchbox", name="Search entries")).to_be_focused()
    admin.page.keyboard.type("a/b?")
    expect(admin.page.get_by_role("searchbox")).to_have_value("a/b?")


def test_a_question_mark_shows_the_keys(admin: Person) -> None:
    admin.page.keyboard.press("?")

    expect(admin.dialog().get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    expect(admin.dialog()).to_contain_text("Search entries")
    admin.page.keyboard.press("Escape")
    expect(admin.dialog()).to_have_count(0)


def test_signing_out_is_in_sight_on_a_low_screen(people: People) -> None:
    person = people.signed_in(size=(1280, 640))

    expect(person.page.get_by_role("button", name="Sign out")).to_be_in_viewport(ratio=1)


def test_a_telephone_shows_one_thing_at_a_time(people: People, store: Client) -> None:
    remember(store, "Read on the way", tags=["a-rather-long-tag-that-has-to-go-somewhere"])
    person = people.signed_in(size=PHONE)

    person.press("Open menu")
    person.dialog().get_by_role("link", name="Entries").click()
    person.page.get_by_role("link", name="Read on the way").click()

    expect(person.panel()).to_be_visible()
    expect(person.page.get_by_role("searchbox")).to_be_hidden()
    width = person.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE[0]
    title = person.panel().get_by_role("heading", name="Read on the way")
    assert on_top(title), "something covers the title"
    person.press("Close the entry")
    expect(person.page.get_by_role("searchbox")).to_be_visible()


def test_no_page_is_wider_than_a_telephone(people: People, store: Client, long_name: None) -> None:
    remember(store, "Read on the way", tags=["a-rather-long-tag-that-has-to-go-somewhere"])
    remember(store, "W" * 500, relations=[{"type": "derivedFrom", "targetId": "projA:gone"}])
    person = people.signed_in(size=PHONE)

    for title, place in PLACES.items():
        person.open(place)
        expect(person.heading(title)).to_be_visible()
        expect(person.page.get_by_role("status", name="Loading")).to_have_count(0)
        assert person.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], title
        assert person.page.evaluate(CUT_OFF) == [], title


def test_a_telephone_names_the_project_of_every_page_and_shows_no_keys(people: People) -> None:
    person = people.signed_in(size=PHONE)

    for title, place in PLACES.items():
        person.open(place)
        expect(person.heading(title)).to_be_visible()
        if place.endswith("/projA"):
            expect(person.page.get_by_role("banner")).to_contain_text("projA")
        for hint in person.page.locator("kbd").all():
            expect(hint).to_be_hidden()
