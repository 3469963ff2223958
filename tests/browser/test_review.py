"""The review queue: one entry at a time, one key each."""

from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import ids_of, remember
from tests.support.server import Client

AT_ONCE = 50
"""So many entries the page asks for at once."""


def tier_of(store: Client, entry_id: str) -> str:
    tier: str = store("getEntry", id=entry_id)["entry"].get("curationTier", "provisional")
    return tier


def shown(person: Person, title: str) -> None:
    expect(person.page.get_by_role("heading", name=title, level=2)).to_be_visible()


def test_a_curator_approves_edits_and_rejects_with_one_key_each(
    people: People, store: Client
) -> None:
    ids = [remember(store, f"Candidate {n}") for n in (1, 2, 3)]
    curator = people.signed_in("curator")
    curator.visit("Review")
    keys = curator.page.keyboard

    shown(curator, "Candidate 1")
    keys.press("a")
    shown(curator, "Candidate 2")
    keys.press("r")
    shown(curator, "Candidate 3")
    keys.press("e")
    curator.field("Statement").fill("put better")
    curator.press("Save")
    shown(curator, "Candidate 3")
    keys.press("a")

    curator.reads("Nothing to review")
    assert tier_of(store, ids[0]) == "curated"
    assert sorted(ids_of(store)) == sorted([ids[0], ids[2]])
    approved = store("getEntry", id=ids[2])["entry"]
    assert (approved["body"]["statement"], approved["curationTier"]) == ("put better", "curated")


def test_a_judgement_can_be_taken_back(admin: Person, store: Client) -> None:
    entry_id = remember(store, "Hasty")
    admin.visit("Review")

    admin.page.get_by_role("button", name="Approve").click()
    admin.reads("Approved “Hasty”.")
    admin.press("Undo")

    shown(admin, "Hasty")
    assert tier_of(store, entry_id) == "provisional"


def test_a_long_queue_is_skipped_through_to_its_end(admin: Person, store: Client) -> None:
    for number in range(AT_ONCE + 1):
        remember(store, f"Provisional {number:02}")
    admin.visit("Review")

    for number in range(AT_ONCE + 1):
        expect(admin.page.get_by_role("heading", level=2)).to_have_text(f"Provisional {number:02}")
        admin.page.keyboard.press("s")

    admin.reads(f"You skipped {AT_ONCE + 1}")
    admin.press("Start over")
    expect(admin.page.get_by_role("heading", level=2)).to_have_text("Provisional 00")


def test_what_is_skipped_stays_in_the_queue(admin: Person, store: Client) -> None:
    remember(store, "Unclear")
    admin.visit("Review")
    shown(admin, "Unclear")

    admin.page.keyboard.press("s")
    admin.reads("You skipped 1.")
    admin.press("Start over")

    shown(admin, "Unclear")
