"""What stands before every route, and what every answer carries."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from qms.http.exchanges import EXCHANGE
from qms.http.guard import CONTENT_SECURITY_POLICY, Guard, Streams
from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of

LIST = "/api/v1/projA/listEntries"
JSON = ("content-type", "application/json")
KEY = ("x-api-key", key_of("reader"))
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
PATHS = [LIST, "/health", "/docs/schema", "/mcp/projA", "/admin/users", "/nothing", "/"]


def listed(
    client: AsgiClient, *headers: tuple[str, str], host: str | None = "127.0.0.1:5080"
) -> int:
    answer = client.request("POST", LIST, headers=[JSON, KEY, *headers], chunks=[b"{}"], host=host)
    return answer.status


def add_to_global(house: House, lines: str) -> None:
    house.reconfigure(lambda text: f"[global]\n{lines}\n{text}")


@pytest.mark.attack(17)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", PATHS)
def test_a_foreign_host_is_misdirected_on_every_route(
    client: AsgiClient, method: str, path: str
) -> None:
    answer = client.request(method, path, headers=[KEY], host="evil.com")

    assert answer.status == 421
    assert failure(answer).code == "misdirectedRequest"


@pytest.mark.attack(17)
@pytest.mark.parametrize(
    "host",
    [
        "evil.com:5080",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost.evil.com:5080",
        "127.0.0.1.evil.com:5080",
        "10.0.0.1:5080",
        "0.0.0.0:5080",
        "[::]:5080",
    ],
)
def test_a_host_that_only_looks_like_this_machine_is_misdirected(
    client: AsgiClient, host: str
) -> None:
    assert listed(client, host=host) == 421


@pytest.mark.parametrize(
    "host", ["127.0.0.1:5080", "localhost:5080", "LocalHost:5080", "[::1]:5080", "127.0.0.2:5080"]
)
def test_this_machine_may_always_be_named_with_the_port_it_listens_on(
    client: AsgiClient, host: str
) -> None:
    assert listed(client, host=host) == 200


def test_hosts_of_the_configuration_are_answered_from_the_moment_they_stand_there(
    house: House,
) -> None:
    hosts = ("memory.example", "Memory.Example:9", "other.example:5443", "other.example")
    assert {listed(house.client, host=host) for host in hosts} == {421}

    add_to_global(house, 'allowedHosts = ["memory.EXAMPLE", "other.example:5443"]')

    assert [listed(house.client, host=host) for host in hosts] == [200, 200, 200, 421]


@pytest.mark.attack(20)
@pytest.mark.parametrize(
    "host",
    [
        "",
        " ",
        "x/public?",
        "a b",
        "a@b",
        "a:b",
        "a:",
        "a:123456",
        "[::1",
        "é",
        "a,b",
        "-",
        "a\tb",
        "localhost.:5080",
    ],
)
def test_a_host_that_is_none_is_invalid(client: AsgiClient, host: str) -> None:
    refusal = failure(client.request("GET", "/health", host=host))

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details == {"field": "Host"}


@pytest.mark.attack(20)
def test_no_host_and_two_hosts_are_invalid(client: AsgiClient) -> None:
    good = ("host", "127.0.0.1:5080")

    assert client.request("GET", "/health", host=None).status == 400
    assert client.request("GET", "/health", headers=[good], host="127.0.0.1:5080").status == 400
    assert client.request("GET", "/health", headers=[good], host=None).status == 200


@pytest.mark.attack(19)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.com",
        "null",
        "http://localhost.evil",
        "http://127.0.0.1:5080.evil.com",
        "https://127.0.0.1:5080",
        "http://127.0.0.1",
        "http://127.0.0.1:5081",
        "",
        "127.0.0.1:5080",
    ],
)
def test_a_foreign_origin_is_refused_with_every_method(
    client: AsgiClient, method: str, origin: str
) -> None:
    for path in (LIST, "/health", "/.well-known/x"):
        refusal = failure(client.request(method, path, headers=[KEY, ("origin", origin)]))
        assert (refusal.status, refusal.code) == (403, "notAllowed")


@pytest.mark.attack(19)
def test_two_origins_are_refused_even_when_one_is_our_own(client: AsgiClient) -> None:
    own = ("origin", "http://127.0.0.1:5080")

    assert listed(client, own) == 200
    assert listed(client, own, ("origin", "https://evil.com")) == 403


def test_an_allowed_origin_may_call_and_its_browser_is_told_so(house: House) -> None:
    origin = ("origin", "https://tools.example")
    assert listed(house.client, origin) == 403

    add_to_global(house, 'allowedOrigins = ["https://tools.example"]')

    answer = house.client.request("POST", LIST, headers=[JSON, KEY, origin], chunks=[b"{}"])
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "https://tools.example"
    assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-credentials" not in answer.headers
    asked = [
        origin,
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization, content-type"),
    ]
    preflight = house.client.request("OPTIONS", LIST, headers=asked)
    assert preflight.status == 204
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert preflight.headers["access-control-allow-headers"] == "authorization, content-type"


def test_nobody_else_is_told_that_a_browser_may_call(client: AsgiClient) -> None:
    answer = client.request("GET", "/health", headers=[("origin", "http://127.0.0.1:5080")])

    assert answer.status == 200
    assert [name for name in answer.headers if name.startswith("access-control")] == []


FORWARDED = [
    ("x-forwarded-for", "203.0.113.9"),
    ("x-forwarded-host", "evil.com"),
    ("x-forwarded-proto", "https"),
    ("forwarded", "for=203.0.113.9;host=evil.com;proto=https"),
    ("x-real-ip", "203.0.113.9"),
]


def wrong_key(client: AsgiClient, *headers: tuple[str, str]) -> int:
    sent = [JSON, ("x-api-key", "wrong"), *headers]
    return client.request("POST", LIST, headers=sent, chunks=[b"{}"]).status


@pytest.mark.attack(21)
def test_forwarded_headers_change_neither_the_host_nor_the_origin(client: AsgiClient) -> None:
    assert listed(client, *FORWARDED) == 200
    assert listed(client, *FORWARDED, ("origin", "http://127.0.0.1:5080")) == 200
    assert listed(client, *FORWARDED, ("origin", "https://127.0.0.1:5080")) == 403
    assert listed(client, ("x-forwarded-host", "127.0.0.1:5080"), host="evil.com") == 421


@pytest.mark.attack(21)
def test_a_guesser_cannot_change_its_address_by_a_header(client: AsgiClient) -> None:
    answers = [
        wrong_key(client, ("x-forwarded-for", f"203.0.113.{number}")) for number in range(20)
    ]

    assert answers == [401] * 10 + [429] * 10


def test_behind_a_proxy_the_address_and_scheme_are_those_that_it_saw(house: House) -> None:
    add_to_global(house, "behindProxy = true")
    own = ("origin", "https://127.0.0.1:5080")

    assert listed(house.client, own) == 200
    assert listed(house.client, own, ("x-forwarded-proto", "https")) == 200
    assert listed(house.client, ("origin", "https://evil.com"), *FORWARDED) == 403
    for number in range(20):
        forged = ("x-forwarded-for", f"198.51.100.{number}, 203.0.113.9")
        assert wrong_key(house.client, forged) == (401 if number < 10 else 429)
    assert wrong_key(house.client, ("x-forwarded-for", "203.0.113.10")) == 401


@pytest.mark.attack(52)
def test_an_address_that_is_too_long_is_refused(client: AsgiClient) -> None:
    for path in ("/" + "a" * 100_000, f"{LIST}?{'q' * 100_000}"):
        refusal = failure(client.request("POST", path, headers=[KEY]))
        assert (refusal.status, refusal.code) == (414, "addressTooLong")
    assert client.request("GET", "/health?" + "q" * 8000).status == 200


@pytest.mark.attack(52)
@pytest.mark.parametrize(
    "headers",
    [
        [("x-long", "a" * 100_000)],
        [(f"x-{number}", "") for number in range(10_000)],
        [("x-same", "1")] * 101,
        [(f"x-{number}", "a" * 1000) for number in range(40)],
    ],
)
def test_headers_that_are_too_many_or_too_long_are_refused(
    client: AsgiClient, headers: list[tuple[str, str]]
) -> None:
    refusal = failure(client.request("GET", "/health", headers=headers))

    assert (refusal.status, refusal.code) == (431, "headersTooLarge")


@pytest.mark.attack(52)
def test_a_length_beside_a_transfer_coding_is_invalid(client: AsgiClient) -> None:
    both = [JSON, KEY, ("content-length", "2"), ("transfer-encoding", "chunked")]

    refusal = failure(client.request("POST", LIST, headers=both, chunks=[b"{}"]))

    assert (refusal.status, refusal.code) == (400, "invalidInput")


def test_heads_are_judged_in_the_order_that_is_documented(client: AsgiClient) -> None:
    long, evil = ("x-long", "a" * 100_000), ("origin", "https://evil.com")

    def answer(*headers: tuple[str, str], host: str | None, path: str = LIST) -> int:
        return client.request("POST", path, headers=headers, host=host).status

    assert answer(long, evil, host="evil.com", path="/" + "a" * 100_000) == 414
    assert answer(long, evil, host="evil.com") == 431
    assert answer(evil, host=None) == 400
    assert answer(evil, host="evil.com") == 421
    assert answer(evil, host="127.0.0.1:5080") == 403
    assert answer(host="127.0.0.1:5080") == 401
    assert answer(KEY, host="127.0.0.1:5080") == 415


@pytest.mark.parametrize(
    ("method", "path", "host"),
    [
        ("POST", LIST, "127.0.0.1:5080"),
        ("GET", "/health", "127.0.0.1:5080"),
        ("GET", "/docs/schema", "127.0.0.1:5080"),
        ("GET", "/nothing", "127.0.0.1:5080"),
        ("DELETE", "/health", "127.0.0.1:5080"),
        ("GET", "/.well-known/x", "127.0.0.1:5080"),
        ("GET", "/health", "evil.com"),
        ("GET", "/" + "a" * 100_000, None),
    ],
)
def test_every_answer_carries_the_security_headers(
    client: AsgiClient, method: str, path: str, host: str | None
) -> None:
    answer = client.request(method, path, headers=[JSON, KEY], chunks=[b"{}"], host=host)

    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"


def test_the_policy_is_that_of_the_security_page() -> None:
    assert "default-src 'none'; script-src 'self'; style-src 'self';" in CONTENT_SECURITY_POLICY
    assert "frame-ancestors 'none'" in CONTENT_SECURITY_POLICY
    assert "unsafe" not in CONTENT_SECURITY_POLICY


async def cached(scope: Scope, receive: Receive, send: Send) -> None:
    headers = {"cache-control": "public, max-age=9"}
    await PlainTextResponse("x", headers=headers)(scope, receive, send)


def test_nothing_below_api_mcp_and_admin_is_stored_whatever_its_route_says(house: House) -> None:
    client = AsgiClient(Guard(cached, house.gate))
    try:
        stored = {
            path: client.request("GET", path).headers["cache-control"]
            for path in ("/api/v1/p/c", "/mcp/p", "/admin/users", "/docs/schema")
        }
    finally:
        client.close()

    assert stored.pop("/docs/schema") == "public, max-age=9"
    assert set(stored.values()) == {"no-store"}


def test_an_answer_that_says_nothing_about_storing_is_not_stored(client: AsgiClient) -> None:
    assert client.request("GET", "/health").headers["cache-control"] == "no-store"
    assert client.request("GET", "/docs/schema").headers["cache-control"] != "no-store"


class Stream:
    """An application that answers with an event stream."""

    def __init__(self) -> None:
        self.ended = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[EXCHANGE].key_id = dict(scope["headers"])[b"x-api-key"].decode()
        try:
            headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b": hello\n\n"})
        finally:
            self.ended += 1


@pytest.mark.attack(50)
def test_streams_beyond_the_cap_are_told_to_come_back_later(house: House) -> None:
    streams, stream = Streams(most=3, most_of_key=2), Stream()
    client = AsgiClient(Guard(stream, house.gate, streams))

    def status(key: str) -> int:
        return client.request("GET", "/mcp/projA", headers=[("x-api-key", key)]).status

    try:
        for _ in range(10):
            assert status("a") == 200
        assert streams.count == 0
        assert [streams.open("a"), streams.open("a"), streams.open("a")] == [True, True, False]
        refused = client.request("GET", "/mcp/projA", headers=[("x-api-key", "a")])
        assert (refused.status, failure(refused).code) == (503, "unavailable")
        assert refused.headers["retry-after"] == "5"
        assert status("b") == 200
        assert streams.open("b")
        assert status("c") == 503
        streams.close("a")
        assert status("c") == 200
    finally:
        client.close()

    assert streams.count == 2
    assert stream.ended == 14
