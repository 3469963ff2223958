"""Overview: the state of every store, the last backup, and a way to put right what is wrong."""

import json

from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import remember
from tests.support.server import Client, ServerProcess, store_folder
from tests.support.waiting import eventually

POLL_MS = 20_000


def test_the_state_of_the_stores_is_shown_with_the_last_backup(
    admin: Person, store: Client
) -> None:
    remember(store, "Counted")
    admin.open("#/backups?project=projA")
    admin.press("Run now")
    admin.reads("1 backup started.")
    admin.visit("Overview")

    row = admin.page.get_by_role("region", name="Stores").get_by_role("row")
    expect(row.filter(has_text="projA")).to_contain_text("healthy")
    expect(admin.page.locator(".tile").filter(has_text="Last backup")).to_contain_text("just now")
    admin.page.get_by_role("link", name="next").click()
    expect(admin.heading("Backups")).to_be_visible()


def test_what_is_wrong_leads_to_where_it_is_put_right(admin: Person, server: ServerProcess) -> None:
    with server.client("projB") as client:
        entry_id = remember(client, "Kept", id="kept")
        copies = store_folder(server.root, "projB") / ".qms" / "conflicts.jsonl"
        copies.write_text(json.dumps({"id": entry_id, "entry": {"id": entry_id}}) + "\n")
        try:
            admin.open("#/overview")
            admin.reads("Conflicting edits")
            problems = admin.page.get_by_role("link", name="Problems")
            expect(problems).to_contain_text("1 waiting")
            admin.page.get_by_role("link", name="Show details").click()

            expect(admin.heading("Problems")).to_be_visible()
            expect(admin.page).to_have_url(f"{admin.url}/#/problems?project=projB")
        finally:
            copies.unlink()
            client("forgetEntries", ids=[entry_id])


def poll(person: Person) -> None:
    """Let the time pass until the page looks again by itself."""
    with person.page.expect_response("**/health") as answer:
        person.page.clock.run_for(POLL_MS)
    answer.value.finished()
    person.page.evaluate("0")


def test_the_menu_counts_what_waits_for_review(people: People, store: Client) -> None:
    for number in range(3):
        remember(store, f"Written {number}")
    curator = people.signed_in("curator")
    curator.open("#/review/projA")
    review = curator.page.get_by_role("link", name="Review")
    expect(review).to_contain_text("3 waiting")
    expect(curator.page.get_by_role("button", name="Approve")).to_be_enabled()

    curator.page.keyboard.press("a")

    expect(review).to_contain_text("2 waiting")


def test_entries_are_counted_again_only_when_something_was_written(
    people: People, store: Client
) -> None:
    remember(store, "Written before")
    curator = people.signed_in("curator")
    curator.page.clock.install()
    curator.open("#/help")
    curator.page.reload()
    review = curator.page.get_by_role("link", name="Review")
    expect(review).to_contain_text("1 waiting")
    for _ in range(3):
        poll(curator)

    curator.requests.clear()
    poll(curator)
    assert [request.url for request in curator.requests if request.url.endswith("/stats")] == []

    remember(store, "Written meanwhile")

    def is_counted() -> bool:
        poll(curator)
        return "2 waiting" in (review.text_content() or "")

    eventually(is_counted)


def test_a_reader_sees_the_stores_and_nothing_of_the_server(people: People) -> None:
    reader = people.signed_in("reader")

    expect(reader.page.get_by_role("region", name="Stores")).to_contain_text("projA")
    for text in ("Metrics", "Last backup", "Requests per second"):
        expect(reader.page.get_by_text(text)).to_have_count(0)


def test_a_chart_has_the_colour_of_failure_for_failures_alone(admin: Person) -> None:
    legends = admin.page.locator(".chart-legend span")
    expect(legends).to_have_text(["requests", "errors", "p95", "mean"])
    bad = admin.page.locator("html").evaluate(
        "root => getComputedStyle(root).getPropertyValue('--bad')"
    )

    marks = legends.locator("i").evaluate_all(
        "marks => marks.map((mark) => getComputedStyle(mark).backgroundColor)"
    )

    red, green, blue = (int(bad.strip()[at : at + 2], 16) for at in (1, 3, 5))
    assert [mark == f"rgb({red}, {green}, {blue})" for mark in marks] == [False, True, False, False]
