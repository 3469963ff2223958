"""The way in and out: keys, the setup link, the end of a session."""

from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import remember
from tests.support.house import key_of
from tests.support.server import Client, ServerProcess

REFUSED = r"status of 40[13]"


def test_a_key_opens_the_page_which_says_what_one_may_do(people: People) -> None:
    person = people()

    person.sign_in(key_of("curator"))

    person.reads("You are signed in as curator: you can write, review, pin")
    expect(person.page).to_have_title("Overview · Quick Memory Server")


def test_a_wrong_key_is_refused_where_it_was_typed(people: People) -> None:
    person = people()
    person.expects(REFUSED)
    person.open()

    person.field("API key").fill("qms_wrong")
    person.press("Sign in")

    person.reads("Invalid API key")
    expect(person.field("API key")).to_have_attribute("aria-invalid", "true")


def test_a_session_lasts_over_a_reload_and_ends_with_signing_out(people: People) -> None:
    person = people.signed_in("reader")

    person.page.reload()
    expect(person.heading("Overview")).to_be_visible()
    person.press("Sign out")

    expect(person.field("API key")).to_be_visible()
    assert [cookie["name"] for cookie in person.context.cookies()] == []


def test_a_visitor_makes_no_request_that_fails(people: People) -> None:
    person = people()

    person.open()

    expect(person.field("API key")).to_be_visible()
    assert [r.url for r in person.requests if "/admin/" in r.url or "/api/" in r.url] == []


def test_a_session_that_ended_asks_for_a_key_and_goes_on_where_it_was(people: People) -> None:
    person = people.signed_in()
    person.expects(REFUSED)
    person.visit("Entries")
    person.context.clear_cookies()

    person.open("#/entries/projA?q=anything")  # a count for the menu may have met the end before

    person.reads("Your session has ended")
    person.field("API key").fill(key_of("admin"))
    person.press("Sign in")
    expect(person.heading("Entries")).to_be_visible()
    expect(person.page.get_by_role("searchbox")).to_have_value("anything")


def test_the_setup_link_signs_in_once_and_leaves_no_trace(people: People, tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "root") as server:
        line = next(line for line in server.lines if line.startswith("setup link: "))
        link = line.split()[-1].removeprefix(server.url).lstrip("/")
        first = people(url=server.url)
        first.open(link)
        expect(first.heading("Overview")).to_be_visible()
        assert "setup" not in first.page.url

        second = people(url=server.url)
        second.expects(REFUSED)
        second.open(link)
        second.reads("this setup link does not work")
        expect(second.field("API key")).to_be_visible()
        for person in (first, second):
            person.context.close()  # before the server, whose end it would complain about


def test_the_key_is_kept_nowhere_in_the_browser(admin: Person) -> None:
    kept = admin.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")

    assert "qms_" not in kept
    assert "qms_" not in admin.page.content()


def lose_session_over(person: Person, entry_id: str, title: str) -> None:
    """Type a title for an hour, and save it when the session is over."""
    person.open(f"#/entries/projA?id={quote(entry_id)}&edit=yes")
    person.field("Title").fill(title)
    person.expects(REFUSED)
    person.context.clear_cookies()
    person.press("Save")


def test_what_was_typed_outlives_the_session_for_the_same_user(
    people: People, store: Client
) -> None:
    entry_id = remember(store, "Before")
    person = people.signed_in("curator")
    lose_session_over(person, entry_id, "Typed for an hour")

    person.reads("Your unsaved input is kept")
    person.field("API key").fill(key_of("curator"))
    person.press("Sign in")

    person.reads("Your input from before the session ended")
    expect(person.field("Title")).to_have_value("Typed for an hour")
    person.press("Save")
    person.reads("Saved.")
    assert store("getEntry", id=entry_id)["entry"]["title"] == "Typed for an hour"


def test_what_was_typed_is_gone_for_another_user_of_the_browser(
    people: People, store: Client
) -> None:
    entry_id = remember(store, "Before")
    person = people.signed_in("curator")
    lose_session_over(person, entry_id, "Nobody's business")

    for user in ("writer", "curator"):
        person.field("API key").fill(key_of(user))
        person.press("Sign in")
        expect(person.field("Title")).to_have_value("Before")
        person.press("Sign out")

    kept = person.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert "business" not in kept


def test_signing_out_over_something_unsaved_asks_first(people: People, store: Client) -> None:
    entry_id = remember(store, "Before")
    person = people.signed_in("curator")
    person.open(f"#/entries/projA?id={quote(entry_id)}&edit=yes")
    person.field("Title").fill("Not saved")

    person.press("Sign out")
    person.reads("Sign out without saving?")
    person.dialog().get_by_role("button", name="Cancel").click()
    expect(person.field("Title")).to_have_value("Not saved")
    person.press("Sign out")
    person.dialog().get_by_role("button", name="Sign out").click()

    expect(person.field("API key")).to_be_visible()
    assert person.context.cookies() == []


def test_signing_out_of_a_server_that_is_away_says_what_is_left(people: People) -> None:
    person = people.signed_in("reader")
    person.expects("net::ERR_FAILED")
    person.page.route("**/admin/session", lambda route: route.abort())

    person.press("Sign out")

    person.reads("The session could not be ended on the server")
    expect(person.field("API key")).to_be_visible()


def test_the_configuration_that_was_typed_outlives_the_session(people: People) -> None:
    person = people.signed_in()
    person.open("#/configuration")
    editor = person.page.get_by_role("textbox", name="The configuration")
    editor.press("ControlOrMeta+Home")
    person.page.keyboard.type("# typed before the end\n")
    person.expects(REFUSED)
    person.context.clear_cookies()
    person.page.keyboard.type("# and this after it\n")

    person.field("API key").fill(key_of("admin"))
    person.press("Sign in")

    person.reads("Your input from before the session ended")
    expect(editor).to_contain_text("# typed before the end")
    person.press("Discard")
    expect(editor).not_to_contain_text("# typed before the end")


def test_an_open_page_that_nobody_touches_does_not_say_that_somebody_is_there(
    admin: Person,
) -> None:
    admin.page.clock.install()
    admin.page.reload()
    expect(admin.heading("Overview")).to_be_visible()
    admin.page.clock.run_for(6_000)  # what was pressed to come in still counts
    admin.requests.clear()

    with admin.page.expect_response("**/stats"):
        admin.page.clock.run_for(60_000)
    alone = [request for request in admin.requests if "/api/" in request.url]
    assert {"stats", "health"} <= {request.url.rsplit("/", 1)[1] for request in alone}
    assert all(request.headers.get("x-unattended") == "1" for request in alone)

    admin.page.keyboard.press("Shift")
    admin.requests.clear()
    with admin.page.expect_response("**/health"):
        admin.page.clock.run_for(6_000)
    assert any("x-unattended" not in request.headers for request in admin.requests)
