"""Sessions of the admin page: how they begin, what they need, when they end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request

from qms.app.routes import app
from qms.http import sessions
from qms.http.auth import authenticate
from qms.http.setup_link import MAX_LINKS, SetupLink
from qms.memory.errors import NotAuthenticatedError
from tests.support.asgi import AsgiClient
from tests.support.console import Browser, Console
from tests.support.house import Clock, House, failure, key_of


@pytest.fixture
def browser(client: AsgiClient) -> Browser:
    return Browser(client)


def test_a_key_begins_a_session_whose_cookie_no_script_can_read(browser: Browser) -> None:
    cookie = browser.signed_in.headers["set-cookie"]

    assert cookie.startswith("qms_session=")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert browser.signed_in.headers["cache-control"] == "no-store"
    assert key_of("admin") not in browser.signed_in.body.decode()


def test_the_cookie_is_for_tls_only_where_there_is_tls(house: House) -> None:
    house.reconfigure(lambda text: f"[global]\nbehindProxy = true\n{text}")

    assert "Secure" in Browser(house.client).signed_in.headers["set-cookie"]


def test_signing_in_says_which_tier_one_has_and_where(client: AsgiClient) -> None:
    answer = Browser(client, key=key_of("writer")).signed_in.json

    assert (answer["user"], answer["tier"]) == ("writer", "writer")
    assert {one["slug"]: one["tier"] for one in answer["projects"]} == {
        "shared": "writer",
        "projA": "writer",
        "projB": "writer",
    }


def test_a_session_tells_who_it_is_with_a_fresh_token(browser: Browser) -> None:
    answer = browser("GET", "/session")

    assert answer["user"] == "admin"
    assert answer["csrfToken"] != browser.token
    browser.token = answer["csrfToken"]
    assert browser.api("projA", "listEntries").status == 200


def test_a_session_opens_the_api_and_the_metrics(browser: Browser, client: AsgiClient) -> None:
    assert browser.api("projA", "listEntries").status == 200
    headers = [("cookie", browser.cookie)]
    assert client.request("GET", "/metrics", headers=headers).status == 200


@pytest.mark.attack(54)
def test_a_flood_by_a_session_counts_for_its_key(house: House, browser: Browser) -> None:
    house.reconfigure(lambda text: text.replace("requestsPerMinute = 0", "requestsPerMinute = 30"))

    statuses = [browser.api("projA", "listEntries").status for _ in range(50)]

    assert statuses == [200] * 30 + [429] * 20


@pytest.mark.attack(26)
def test_a_session_opens_no_mcp(browser: Browser, client: AsgiClient) -> None:
    headers = [("cookie", browser.cookie), ("content-type", "application/json")]

    answer = client.request("POST", "/mcp/projA", headers=headers, chunks=[b"{}"])

    assert answer.status == 401


@pytest.mark.attack(25)
@pytest.mark.parametrize("lacks", ["token", "wrong token", "another's token", "origin", "foreign"])
def test_a_change_that_another_site_could_have_sent_is_refused(
    house: House, browser: Browser, client: AsgiClient, lacks: str
) -> None:
    match lacks:
        case "token":
            browser.token = None
        case "wrong token":
            browser.token = "0" * 16 + "." + "0" * 64
        case "another's token":
            browser.token = Browser(client).token
        case "origin":
            browser.origin = None
        case _:
            browser.origin = "https://evil.example"

    for answer in (
        browser.send("POST", "/users", {"user": "mallory", "tier": "admin"}),
        browser.send("DELETE", "/session"),
        browser.api("projA", "listEntries"),
    ):
        assert (answer.status, failure(answer).code) == (403, "notAllowed")
    assert "mallory" not in house.configuration.settings.users


@pytest.mark.attack(25)
def test_a_form_of_another_site_is_refused(browser: Browser, client: AsgiClient) -> None:
    headers = [
        ("cookie", browser.cookie),
        ("origin", "https://evil.example"),
        ("content-type", "application/x-www-form-urlencoded"),
    ]

    answer = client.request(
        "POST", "/admin/users", headers=headers, chunks=[b"user=mallory&tier=admin"]
    )

    assert answer.status == 403


@pytest.mark.attack(26)
def test_a_session_is_no_key_where_only_keys_count(house: House, browser: Browser) -> None:
    scope = {"type": "http", "headers": [(b"cookie", browser.cookie.encode())]}

    with pytest.raises(NotAuthenticatedError):
        authenticate(Request(scope), house.gate)


@pytest.mark.parametrize("cookie", ["qms_session=", "qms_session=x", "qms_session=%00", ""])
def test_a_cookie_that_is_no_session_opens_nothing(browser: Browser, cookie: str) -> None:
    browser.cookie = cookie

    assert browser.fails("GET", "/users").status == 401


def test_signing_out_ends_the_session(browser: Browser) -> None:
    answer = browser.send("DELETE", "/session")

    assert answer.json == {"ended": True}
    assert 'qms_session=""' in answer.headers["set-cookie"]
    assert browser.fails("GET", "/session").status == 401


def test_a_session_ends_after_twelve_idle_hours(browser: Browser, clock: Clock) -> None:
    for _ in range(3):
        clock.move(hours=11)
        browser("GET", "/session")

    clock.move(hours=12)

    assert browser.fails("GET", "/session").status == 401


def test_a_page_that_is_left_open_does_not_keep_its_session_alive(
    browser: Browser, clock: Clock
) -> None:
    browser.is_unattended = True
    clock.move(hours=11)
    browser("GET", "/session")
    clock.move(hours=1)

    assert browser.fails("GET", "/session").status == 401


def test_a_session_ends_with_its_key(house: House, browser: Browser) -> None:
    made = browser("POST", "/keys", {"user": "writer", "label": "second"})
    signed_in = Browser(house.client, key=made["key"])
    signed_in("GET", "/session")

    browser("DELETE", f"/keys/{made['id']}")

    assert signed_in.fails("GET", "/session").status == 401
    assert Browser(house.client, key=key_of("writer")).signed_in.status == 200


def test_a_session_ends_when_its_key_expires(house: House, browser: Browser, clock: Clock) -> None:
    expires = "2026-03-01T13:00:00Z"
    made = browser("POST", "/keys", {"user": "writer", "expiresUtc": expires})
    signed_in = Browser(house.client, key=made["key"])

    clock.move(minutes=59)
    signed_in("GET", "/session")
    clock.move(minutes=1)

    assert signed_in.fails("GET", "/session").status == 401


def test_a_session_ends_with_its_user(house: House, browser: Browser) -> None:
    signed_in = Browser(house.client, key=key_of("writer"))

    browser("DELETE", "/users/writer")

    assert signed_in.api("projA", "listEntries").status == 401


def test_a_session_has_the_rights_that_its_user_has_now(house: House, browser: Browser) -> None:
    signed_in = Browser(house.client, key=key_of("reader"))
    assert signed_in.fails("GET", "/users").status == 403

    browser("PUT", "/users/reader", {"tier": "admin"})

    assert signed_in("GET", "/users")["items"]


def test_too_many_sessions_of_a_user_end_its_own_oldest_and_nobody_elses(
    house: House, browser: Browser, clock: Clock
) -> None:
    most = sessions.MAX_SESSIONS_OF_A_USER
    opened = []
    for _ in range(most + 1):
        clock.move(seconds=1)
        opened.append(Browser(house.client, key=key_of("reader")))

    assert [one.send("GET", "/session").status for one in opened] == [401] + [200] * most
    assert browser("GET", "/session")["user"] == "admin"


def test_sessions_of_all_users_have_a_bound(
    house: House, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SESSIONS", 2)
    opened = []
    for user in ("reader", "writer", "curator"):
        clock.move(seconds=1)
        opened.append(Browser(house.client, key=key_of(user)))

    assert [one.send("GET", "/session").status for one in opened] == [401, 200, 200]


@pytest.mark.attack(2)
@pytest.mark.parametrize("key", ["", "qms_wrong", "é\0", "x" * 5000])
def test_signing_in_with_a_wrong_key_is_refused_like_every_wrong_key(
    client: AsgiClient, key: str
) -> None:
    refused = Console(client, None).send("POST", "/session", {"key": key})

    assert (refused.status, failure(refused).code) == (401, "notAuthenticated")
    assert "set-cookie" not in refused.headers


@pytest.mark.parametrize("content", [{}, {"key": "a", "setup": "b"}, {"key": 5}, {"user": "x"}])
def test_signing_in_takes_either_a_key_or_a_setup_token(
    client: AsgiClient, content: dict[str, object]
) -> None:
    assert Console(client, None).fails("POST", "/session", content).status == 400


def test_a_key_in_the_header_needs_no_session_and_gets_no_token(client: AsgiClient) -> None:
    answer = Console(client, "curator")("GET", "/session")

    assert (answer["user"], answer["csrfToken"]) == ("curator", None)


def test_sessions_are_written_into_the_audit_log(house: House, browser: Browser) -> None:
    browser("DELETE", "/session")

    page = Console(house.client)("GET", "/audit")
    events = [(one["command"], one["user"], one["keyId"] is None) for one in page["items"]]
    assert events == [("closeSession", "admin", False), ("openSession", "admin", False)]


@pytest.fixture
def setup(house: House) -> SetupLink:
    return SetupLink(house.gate.authenticate(key_of("admin")), house.clock())


@pytest.fixture
def fresh(house: House, setup: SetupLink) -> Iterator[AsgiClient]:
    """A server on its first run."""
    client = AsgiClient(app(house.gate, setup=setup))
    yield client
    client.close()


def fresh_link(client: AsgiClient, who: str = "admin") -> str:
    """Return the token of a sign-in link that a user makes with a key."""
    token: str = Console(client, who)("POST", "/session/link", {})["setup"]
    return token


@pytest.mark.parametrize("who", ["reader", "curator", "admin"])
def test_a_link_that_a_user_makes_signs_that_user_in_once(client: AsgiClient, who: str) -> None:
    token = fresh_link(client, who)

    assert Browser(client, setup=token).signed_in.json["user"] == who
    assert Browser(client, setup=token).signed_in.status == 403


@pytest.mark.attack(76)
def test_a_link_that_a_user_makes_works_for_five_minutes(client: AsgiClient, clock: Clock) -> None:
    token = fresh_link(client)
    clock.move(minutes=5)

    assert Browser(client, setup=token).signed_in.status == 403


@pytest.mark.attack(76)
def test_a_link_that_a_user_makes_works_on_the_machine_itself_only(client: AsgiClient) -> None:
    token = fresh_link(client)
    elsewhere = Console(client, None).send(
        "POST", "/session", {"setup": token}, address="192.0.2.7"
    )

    assert elsewhere.status == 403
    assert Browser(client, setup=token).signed_in.status == 200


def test_the_oldest_of_too_many_links_gives_way(client: AsgiClient) -> None:
    tokens = [fresh_link(client) for _ in range(MAX_LINKS + 1)]

    assert Browser(client, setup=tokens[0]).signed_in.status == 403
    assert Browser(client, setup=tokens[1]).signed_in.status == 200


def test_a_link_needs_a_key_and_is_written_into_the_audit_log(house: House) -> None:
    refused = Console(house.client, None).fails("POST", "/session/link", {})
    fresh_link(house.client)

    assert refused.status == 401
    (event,) = Console(house.client)("GET", "/audit")["items"]
    assert (event["command"], event["user"]) == ("createSignInLink", "admin")


def test_the_setup_link_signs_the_admin_in(fresh: AsgiClient, setup: SetupLink) -> None:
    browser = Browser(fresh, setup=setup.token)

    assert browser.signed_in.json["tier"] == "admin"
    assert browser("GET", "/users")["items"]


@pytest.mark.attack(76)
def test_the_setup_link_works_once(fresh: AsgiClient, setup: SetupLink) -> None:
    assert Browser(fresh, setup=setup.token).signed_in.status == 200
    assert Browser(fresh, setup=setup.token).signed_in.status == 403


@pytest.mark.attack(76)
def test_the_setup_link_works_for_half_an_hour(
    fresh: AsgiClient, setup: SetupLink, clock: Clock
) -> None:
    clock.move(minutes=30)

    assert Browser(fresh, setup=setup.token).signed_in.status == 403


@pytest.mark.attack(76)
@pytest.mark.parametrize(
    "address", ["192.168.1.7", "203.0.113.9", "::ffff:10.0.0.1", "2001:db8::1"]
)
def test_the_setup_link_works_on_the_machine_itself_only(
    fresh: AsgiClient, setup: SetupLink, address: str
) -> None:
    elsewhere = Console(fresh, None).send(
        "POST", "/session", {"setup": setup.token}, address=address
    )

    assert elsewhere.status == 403
    assert Browser(fresh, setup=setup.token).signed_in.status == 200


@pytest.mark.attack(76)
def test_the_setup_link_does_not_work_through_a_proxy(fresh: AsgiClient, setup: SetupLink) -> None:
    headers = [("content-type", "application/json"), ("x-forwarded-for", "127.0.0.1")]
    body = b'{"setup":"%b"}' % setup.token.encode()

    answer = fresh.request("POST", "/admin/session", headers=headers, chunks=[body])

    assert answer.status == 403


@pytest.mark.attack(76)
@pytest.mark.parametrize("token", ["", "x", "é"])
def test_another_token_is_refused_and_leaves_the_link_good(
    fresh: AsgiClient, setup: SetupLink, token: str
) -> None:
    assert Console(fresh, None).fails("POST", "/session", {"setup": token}).status == 403
    assert Browser(fresh, setup=setup.token).signed_in.status == 200


@pytest.mark.attack(76)
def test_without_a_first_run_there_is_no_setup(client: AsgiClient, tmp_path: Path) -> None:
    assert Console(client, None).fails("POST", "/session", {"setup": "x"}).status == 403


def test_an_allowed_origin_and_the_https_of_a_proxy_may_change_things(
    house: House, browser: Browser
) -> None:
    browser.origin = "https://127.0.0.1:5080"
    assert browser.api("projA", "listEntries").status == 403
    house.reconfigure(lambda text: f'[global]\nallowedOrigins = ["https://memory.example"]\n{text}')
    browser.origin = "https://memory.example"
    assert browser.api("projA", "listEntries").status == 200

    house.reconfigure(lambda text: text.replace("[global]\n", "[global]\nbehindProxy = true\n", 1))
    browser.origin = "https://127.0.0.1:5080"

    assert browser.api("projA", "listEntries").status == 200
