"""The first steps on an empty root: they lead the overview and tick themselves off."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.support.server import ServerProcess


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Return a server on its first run."""
    with ServerProcess(tmp_path_factory.mktemp("fresh") / "root") as running:
        yield running


def step(person: Person, title: str) -> Locator:
    steps = person.page.get_by_role("list", name="First steps").get_by_role("listitem")
    return steps.filter(has_text=title)


def test_a_new_server_leads_to_its_first_memory_and_agent(
    people: People, fresh: ServerProcess
) -> None:
    person = people(url=fresh.url)
    person.sign_in(fresh.key)
    expect(step(person, "Connect an agent")).not_to_contain_text("done")

    step(person, "Connect an agent").get_by_role("link", name="Connect").click()
    person.press("Create a key")
    person.press("Test connection")
    person.reads("Connected: ")
    snippet = person.dialog().get_by_label("The snippet").inner_text()
    key = snippet.split("Bearer ")[1].rstrip('"')
    assert key.startswith("qms_")

    person.open("#/overview")
    expect(step(person, "Connect an agent")).to_contain_text("done")
    expect(step(person, "Write a first memory")).not_to_contain_text("done")
    with fresh.client("default", key=key) as agent:
        agent("upsertEntry", entry={"kind": "note", "title": "First", "body": {"text": "x"}})
    expect(step(person, "Write a first memory")).to_contain_text("done")
    with fresh.client("default", key=key) as agent:
        agent("bulkImport", entries=[{"kind": "note", "title": "Old", "body": {"text": "y"}}])

    expect(person.page.get_by_role("list", name="First steps")).to_have_count(0)


def test_first_steps_are_hidden_for_good_when_they_are_not_wanted(people: People) -> None:
    person = people.signed_in("writer")
    expect(step(person, "Write a first memory")).to_be_visible()

    person.press("Hide")
    expect(step(person, "Write a first memory")).to_have_count(0)
    person.page.reload()

    expect(person.page.get_by_role("region", name="Stores")).to_be_visible()
    expect(step(person, "Write a first memory")).to_have_count(0)


def test_a_reader_gets_no_first_steps(people: People) -> None:
    reader = people.signed_in("reader")

    expect(reader.page.get_by_role("region", name="Stores")).to_be_visible()
    expect(reader.page.get_by_text("Get started")).to_have_count(0)
