"""The graph: what is linked with what, filtered by relation, with a click to the entry."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.browser.stores import lacks_markup, remember
from tests.support.server import Client

MARKUP = "<svg onload=document.title='owned'>"


def listed(person: Person) -> Locator:
    region = person.page.get_by_role("region", name="Entries of the graph")
    return region.get_by_role("listitem")


@pytest.fixture
def centre(store: Client) -> str:
    """Return an entry with neighbours of two kinds."""
    old = remember(store, "Old way")
    cited = remember(store, f"Cited {MARKUP}", tags=["cited"])
    relations = [{"type": "supersedes", "targetId": old}, {"type": "ref", "targetId": cited}]
    remember(store, "Stands alone")
    return remember(store, "The centre", relations=relations)


@pytest.mark.attack("56")
def test_the_neighbourhood_is_drawn_and_filtered_by_relation(admin: Person, centre: str) -> None:
    admin.open_entry(centre)
    admin.page.get_by_role("link", name="Graph of its neighbours").click()
    expect(admin.heading("Graph")).to_be_visible()
    expect(listed(admin)).to_have_count(3)
    expect(admin.page.locator(".graph canvas").first).to_be_visible()
    lacks_markup(admin)

    admin.page.get_by_label("Relation").select_option("ref")

    expect(listed(admin)).to_have_count(2)
    expect(listed(admin).last).to_contain_text("Cited")
    expect(admin.page).to_have_url(re.compile("type=ref"))


def test_a_click_on_a_node_opens_its_entry(admin: Person, centre: str) -> None:
    admin.open(f"#/graph/projA?id={centre}")
    drawing = admin.page.locator(".graph")
    expect(drawing.locator("canvas").first).to_be_visible()

    drawing.click()

    expect(admin.panel()).to_contain_text("The centre is so")


def test_the_whole_project_is_drawn_and_narrowed_to_a_tag(admin: Person, centre: str) -> None:
    admin.visit("Graph")
    expect(listed(admin)).to_have_count(4)

    admin.field("Only with the tag").fill("cited")

    expect(listed(admin)).to_have_count(2)
    expect(listed(admin).first).to_contain_text("Cited")
    expect(listed(admin).last).to_contain_text("The centre")
