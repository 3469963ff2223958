"""Disputes: a curator says which of two entries holds, or makes one of both."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.stores import ids_of, lacks_markup, remember
from tests.support.server import Client

MARKUP = "<img src=x onerror=document.title='owned'>"


@pytest.mark.attack("56")
def test_a_curator_says_which_of_two_entries_holds(people: People, store: Client) -> None:
    old = remember(store, "Port is 80", body={"statement": f"The port is 80 {MARKUP}"})
    relations = [{"type": "contradicts", "targetId": old}]
    new = remember(store, "Port is 443", body={"statement": "The port is 443"}, relations=relations)
    curator = people.signed_in("curator")
    curator.visit("Disputes")
    side = curator.page.get_by_role("region", name="Port is 443")
    expect(side).to_contain_text("The port is 443")
    lacks_markup(curator)

    side.get_by_role("button", name="This one is correct").click()
    curator.press("Resolve")

    curator.reads("No contradictions")
    relations = store("getEntry", id=new)["entry"]["relations"]
    assert {"supersedes", old} <= {value for one in relations for value in one.values()}


def test_two_entries_that_say_the_same_become_one(people: People, store: Client) -> None:
    text = "The nightly build runs at three in the morning on the small machine"
    ids = [remember(store, title, body=text) for title in ("Nightly build", "The nightly build")]
    curator = people.signed_in("curator")
    curator.visit("Disputes")
    curator.page.get_by_role("tab", name="Duplicates").click()

    curator.press("Merge")
    curator.dialog().get_by_role("button", name="Merge").click()

    curator.reads("No duplicates")
    assert len(ids_of(store)) == 1
    assert ids_of(store)[0] not in ids
