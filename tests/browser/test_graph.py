"""The graph: what is linked with what, filtered by relation, with a click to the entry."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from tests.browser.stores import lacks_markup, remember
from tests.support.server import Client
from tests.support.waiting import eventually

INK = """graph => {
    const ink = { within: 0, at_the_edge: 0 };
    for (const canvas of graph.querySelectorAll("canvas")) {
        const { width, height } = canvas;
        const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
        for (let at = 0; at < width * height; at += 1) {
            const [x, y] = [at % width, Math.floor(at / width)];
            const isEdge = x < 3 || y < 3 || x > width - 4 || y > height - 4;
            ink[isEdge ? "at_the_edge" : "within"] += data[at * 4 + 3] > 0 ? 1 : 0;
        }
    }
    return ink;
}"""
"""How many points of the drawing are drawn on, and how many of those lie where it is cut off."""

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
    admin.page.get_by_role("link", name="Show in graph").click()
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


def test_three_hundred_entries_around_one_are_all_in_the_drawing(
    admin: Person, store: Client
) -> None:
    admin.expects("willReadFrequently")
    hub = remember(store, "Hub")
    spokes = [
        {
            "id": f"spoke{n}",
            "kind": "note",
            "title": f"Spoke {n}",
            "body": "x",
            "relations": [{"type": "ref", "targetId": hub if n < 40 else f"projA:spoke{n % 40}"}],
        }
        for n in range(330)
    ]
    store("bulkImport", entries=spokes)

    admin.open(f"#/graph/projA?id={hub}&hops=2")

    expect(listed(admin)).to_have_count(300)
    drawing = admin.page.locator(".graph")
    eventually(lambda: drawing.evaluate(INK)["within"] > 0)
    assert drawing.evaluate(INK)["at_the_edge"] == 0


def test_the_whole_project_is_drawn_and_narrowed_to_a_tag(admin: Person, centre: str) -> None:
    admin.visit("Graph")
    expect(listed(admin)).to_have_count(4)

    admin.field("Tag").fill("cited")

    expect(listed(admin)).to_have_count(2)
    expect(listed(admin).first).to_contain_text("Cited")
    expect(listed(admin).last).to_contain_text("The centre")


def test_colours_of_kinds_are_explained(admin: Person, centre: str, store: Client) -> None:
    remember(store, "To do", kind="task", body={"summary": "do it"})

    admin.open("#/graph/projA")

    legend = admin.page.get_by_role("group", name="Colours")
    expect(legend.locator("span")).to_have_text(["Fact 4", "Task 1"])
    tones = legend.locator("i").evaluate_all(
        "marks => marks.map((mark) => getComputedStyle(mark).backgroundColor)"
    )
    assert len(set(tones)) == 2


def test_the_first_view_of_many_entries_is_what_is_linked_most(
    admin: Person, store: Client
) -> None:
    loose = [{"kind": "note", "title": f"Loose {n}", "body": f"text {n}"} for n in range(150)]
    hub = remember(store, "Hub")
    store("bulkImport", entries=loose)
    for number in range(5):
        remember(store, f"Spoke {number}", relations=[{"type": "ref", "targetId": hub}])

    admin.open("#/graph/projA")

    expect(listed(admin)).to_have_count(6)
    expect(listed(admin).first).to_contain_text("Hub")
