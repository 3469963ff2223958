import logging
from collections.abc import Callable

import pytest

from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of

LIST = "/api/v1/projA/listEntries"
JSON = ("content-type", "application/json")


def send(client: AsgiClient, *headers: tuple[str, str], path: str = LIST) -> tuple[int, bytes]:
    answer = client.request("POST", path, headers=[JSON, *headers], chunks=[b"{}"])
    return answer.status, answer.body


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", f"Bearer {key_of('reader')}"),
        ("authorization", f"bearer {key_of('reader')}"),
        ("X-Api-Key", key_of("reader")),
    ],
)
def test_a_key_is_taken_from_either_header(client: AsgiClient, header: tuple[str, str]) -> None:
    assert send(client, header)[0] == 200


@pytest.mark.attack(1)
@pytest.mark.parametrize("project", ["projA", "closed", "absent"])
def test_without_a_key_nothing_is_told_about_any_project(client: AsgiClient, project: str) -> None:
    answer = client.post(f"/api/v1/{project}/listEntries", {})

    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json == {
        "error": {
            "code": "notAuthenticated",
            "message": "a valid key is needed: send Authorization: Bearer <key>"
            " or X-Api-Key: <key>",
            "details": {},
        }
    }


@pytest.mark.attack(2)
def test_every_wrong_key_gets_the_same_answer(client: AsgiClient) -> None:
    good = key_of("reader")
    nothing = send(client)

    for header in (
        ("Authorization", "Bearer wrong"),
        ("Authorization", f"Bearer {good[:-1]}x"),
        ("Authorization", f"Bearer {good}x"),
        ("Authorization", "Bearer "),
        ("Authorization", "Bearer"),
        ("Authorization", ""),
        ("Authorization", f"Basic {good}"),
        ("Authorization", good),
        ("X-Api-Key", ""),
        ("X-Api-Key", good.upper()),
    ):
        assert send(client, header) == nothing
    assert nothing[0] == 401


@pytest.mark.attack(3)
@pytest.mark.parametrize("key", ["schlüssel", "\x00", "a\x00b", "k" * 1_000_000, "\xff" * 100])
def test_a_malformed_key_is_refused_and_not_an_error(client: AsgiClient, key: str) -> None:
    assert send(client, ("Authorization", f"Bearer {key}")) == send(client)
    assert send(client, ("X-Api-Key", key)) == send(client)


@pytest.mark.attack(5)
def test_a_key_in_the_url_is_not_looked_at(client: AsgiClient) -> None:
    key = key_of("admin")

    for name in ("key", "apiKey", "api_key", "access_token", "authorization"):
        assert send(client, path=f"{LIST}?{name}={key}")[0] == 401


@pytest.mark.attack(6)
def test_many_wrong_keys_are_slowed_down_and_a_good_one_still_works(client: AsgiClient) -> None:
    answers = [
        client.request(
            "POST", LIST, headers=[JSON, ("X-Api-Key", f"guess {number}")], chunks=[b"{}"]
        )
        for number in range(20)
    ]

    assert [answer.status for answer in answers] == [401] * 10 + [429] * 10
    refusal = failure(answers[-1])
    assert refusal.code == "rateLimited"
    assert answers[-1].headers["retry-after"] == str(refusal.details["retryAfterSeconds"])
    assert send(client, ("X-Api-Key", key_of("reader")))[0] == 200
    assert send(client)[0] == 401


@pytest.mark.attack(6)
def test_one_network_of_ipv6_is_one_guesser(client: AsgiClient) -> None:
    def guess(address: str) -> int:
        headers = [JSON, ("X-Api-Key", "guess")]
        return client.request("POST", LIST, headers=headers, chunks=[b"{}"], address=address).status

    assert [guess(f"2001:db8:1:2::{number}") for number in range(1, 12)] == [401] * 10 + [429]
    assert guess("2001:db8:1:3::1") == 401


@pytest.mark.attack(54)
def test_a_flood_from_one_key_is_told_to_wait_and_others_are_not(house: House) -> None:
    house.reconfigure(lambda text: text.replace("requestsPerMinute = 0", "requestsPerMinute = 30"))
    answers = [house.door("reader").send("listEntries", {}) for _ in range(50)]

    assert [answer.status for answer in answers] == [200] * 30 + [429] * 20
    assert failure(answers[-1]).code == "rateLimited"
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert house.door("writer").send("listEntries", {}).status == 200


def without_the_reader(text: str) -> str:
    before, _, rest = text.partition("[users.reader]")
    return before + rest[rest.index("[users.writer]") :]


def with_an_end(text: str) -> str:
    return text.replace("createdUtc", 'expiresUtc = "2026-03-01T13:00:00Z", createdUtc')


@pytest.mark.attack(4)
def test_a_removed_key_is_refused_like_an_unknown_one(house: House) -> None:
    reader = house.door("reader")
    assert reader("listEntries")["items"] == []

    house.reconfigure(without_the_reader)

    assert reader.fails("listEntries").code == "notAuthenticated"


@pytest.mark.attack(4)
def test_an_expired_key_is_refused_like_an_unknown_one(house: House) -> None:
    reader = house.door("reader")
    house.reconfigure(with_an_end)
    assert reader("listEntries")["items"] == []

    house.clock.move(hours=1)

    assert reader.fails("listEntries").code == "notAuthenticated"


def test_the_agent_is_named_by_a_header_and_checked(client: AsgiClient) -> None:
    key = ("X-Api-Key", key_of("reader"))

    assert send(client, key, ("X-Agent-Id", "ai:claude-code"))[0] == 200
    assert send(client, key, ("X-Agent-Id", "a b"))[0] == 400


BY_HAND = "visible-key-that-a-person-chose-4711"
"""Nothing tells it from other words: the log could not redact it."""


def everything_in(record: logging.LogRecord) -> str:
    """Return all that a handler could print of a record, before anything is redacted."""
    return f"{record.getMessage()} {vars(record)} {logging.Formatter().format(record)}"


@pytest.mark.attack(5)
@pytest.mark.parametrize(
    ("change", "noted"),
    [(without_the_reader, ["revoked"]), (with_an_end, ["expired"]), (str, [])],
    ids=["revoked", "expired", "unknown"],
)
def test_no_record_of_the_log_carries_a_key_that_is_refused(
    house: House,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[str], str],
    noted: list[str],
) -> None:
    if noted:
        empty = '[users.reader]\ntier = "reader"\napiKey = "'
        house.reconfigure(lambda text: text.replace(empty, empty + BY_HAND))
        assert send(house.client, ("X-Api-Key", BY_HAND))[0] == 200
    house.reconfigure(change)
    house.clock.move(hours=1)

    with caplog.at_level(logging.DEBUG):
        answers = [
            send(house.client, ("X-Api-Key", BY_HAND)),
            send(house.client, ("Authorization", f"Bearer {BY_HAND}")),
            send(house.client, path=f"{LIST}?key={BY_HAND}"),
        ]

    assert [status for status, _ in answers] == [401, 401, 401]
    found = [record for record in caplog.records if record.getMessage() == "ended key used"]
    assert [vars(record)["reason"] for record in found] == noted
    assert [one for one in map(everything_in, caplog.records) if BY_HAND in one] == []
