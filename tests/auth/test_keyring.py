"""Keys that are tried too often, used too often, or used after their end."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from qms.auth.keyring import FAILURES_A_MINUTE, MAX_ENDED_KEYS, EndedKeyUse, Keyring
from qms.config.api_keys import KeyMatch, KeyRecord, hash_key
from qms.config.settings import GlobalSettings, RateSettings, Settings, User
from qms.memory.errors import NotAuthenticatedError, RateLimitedError

NOW = datetime(2026, 5, 1, tzinfo=UTC)


class Ring:
    """A keyring with a clock that is moved, and all that it noted."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.noted: list[EndedKeyUse] = []
        self.keyring = Keyring(
            clock=lambda: NOW + timedelta(seconds=self.seconds),
            monotonic=lambda: self.seconds,
            on_ended_key=self.noted.append,
        )

    def tries(self, settings: Settings, key: str, source: str = "here") -> str:
        """Return how a key fares, in one word."""
        try:
            return self.keyring.authenticate(settings, key, source).user
        except (NotAuthenticatedError, RateLimitedError) as error:
            return error.code


def settings(
    *names: str, requests_per_minute: int = 0, expires_utc: datetime | None = None
) -> Settings:
    users = {
        name: User(
            keys=(KeyRecord(id=f"id-{name}", sha256=hash_key(name), expires_utc=expires_utc),)
        )
        for name in names
    }
    rate = RateSettings(requests_per_minute=requests_per_minute)
    return Settings(users=users, global_=GlobalSettings(rate=rate))


@pytest.mark.attack(6)
def test_a_source_that_fails_too_often_is_told_to_wait_and_a_good_key_from_it_still_works() -> None:
    ring, known = Ring(), settings("alice")

    answers = [ring.tries(known, f"wrong {number}") for number in range(20)]

    assert answers == ["notAuthenticated"] * FAILURES_A_MINUTE + ["rateLimited"] * 10
    assert ring.tries(known, "alice") == "alice"
    assert ring.tries(known, "wrong", source="elsewhere") == "notAuthenticated"


@pytest.mark.attack(6)
def test_the_answer_says_after_how_long_another_try_is_heard() -> None:
    ring, known = Ring(), settings("alice")
    for _ in range(FAILURES_A_MINUTE):
        ring.tries(known, "wrong")
    with pytest.raises(RateLimitedError) as refusal:
        ring.keyring.authenticate(known, "wrong", "here")

    ring.seconds += refusal.value.details["retryAfterSeconds"]

    assert ring.tries(known, "wrong") == "notAuthenticated"
    assert ring.tries(known, "wrong") == "rateLimited"


def test_a_request_without_a_key_is_no_failed_try() -> None:
    ring, known = Ring(), settings("alice")

    assert {ring.tries(known, "") for _ in range(50)} == {"notAuthenticated"}
    assert ring.tries(known, "wrong") == "notAuthenticated"


@pytest.mark.attack(54)
def test_a_key_that_asks_too_often_waits_and_another_does_not() -> None:
    ring, known = Ring(), settings("alice", "bob", requests_per_minute=60)

    answers = [ring.tries(known, "alice") for _ in range(100)]

    assert answers == ["alice"] * 60 + ["rateLimited"] * 40
    assert ring.tries(known, "bob") == "bob"
    ring.seconds += 1
    assert ring.tries(known, "alice") == "alice"


def test_a_new_rate_is_in_force_at_once() -> None:
    ring = Ring()
    for _ in range(5):
        ring.tries(settings("alice", requests_per_minute=1), "alice")
    assert ring.tries(settings("alice", requests_per_minute=1), "alice") == "rateLimited"

    assert ring.tries(settings("alice", requests_per_minute=0), "alice") == "alice"


def test_the_last_use_of_a_key_is_known_and_kept_for_the_next_start() -> None:
    ring, known = Ring(), settings("alice", "bob")
    ring.tries(known, "alice")
    ring.seconds = 5
    ring.tries(known, "alice")
    ring.tries(known, "wrong")

    kept = Keyring(ring.keyring.uses(), clock=lambda: NOW)

    assert kept.last_used("id-alice") == NOW + timedelta(seconds=5)
    assert kept.last_used("id-bob") is None
    kept.follow(known)
    assert kept.last_used("id-alice") == NOW + timedelta(seconds=5)


@pytest.mark.attack(4)
def test_an_expired_key_is_noted_with_its_holder() -> None:
    ring, known = Ring(), settings("alice", expires_utc=NOW)

    assert ring.tries(known, "alice") == "notAuthenticated"

    assert [(use.user, use.key_id, use.reason) for use in ring.noted] == [
        ("alice", "id-alice", "expired")
    ]


@pytest.mark.attack(4)
def test_a_revoked_key_is_noted_also_when_it_was_revoked_before_this_start() -> None:
    before, ring = Ring(), Ring()
    before.keyring.follow(settings("alice", "bob"))
    ring.keyring = Keyring(before.keyring.uses(), clock=lambda: NOW, on_ended_key=ring.noted.append)

    assert ring.tries(settings("bob"), "alice") == "notAuthenticated"

    assert [(use.user, use.key_id, use.reason) for use in ring.noted] == [
        ("alice", "id-alice", "revoked")
    ]


def test_a_key_that_comes_back_works_and_is_not_noted() -> None:
    ring = Ring()
    ring.keyring.follow(settings("alice"))
    ring.keyring.follow(settings())

    assert ring.tries(settings("alice"), "alice") == "alice"
    assert ring.noted == []


@pytest.mark.attack(4)
def test_an_ended_key_that_is_tried_again_and_again_is_noted_once_an_hour() -> None:
    ring, known = Ring(), settings("alice", expires_utc=NOW)
    for _ in range(100):
        ring.tries(known, "alice")
    assert len(ring.noted) == 1

    ring.seconds += 3600
    ring.tries(known, "alice")

    assert len(ring.noted) == 2


def test_only_so_many_keys_that_are_gone_are_remembered() -> None:
    ring = Ring()
    everybody = settings(*(str(number) for number in range(MAX_ENDED_KEYS + 50)))
    ring.keyring.follow(everybody)
    ring.keyring.follow(msgspec.structs.replace(everybody, users={}))

    assert len(ring.keyring.uses()) == MAX_ENDED_KEYS


def test_of_too_many_keys_that_are_gone_the_one_that_ended_first_is_forgotten() -> None:
    ring = Ring()
    others = [str(number) for number in range(MAX_ENDED_KEYS - 1)]
    ring.keyring.follow(settings("first", "last", *others))
    ring.keyring.follow(settings("last", *others))
    ring.seconds += 60
    ring.keyring.follow(settings("last"))
    ring.seconds += 60
    ring.keyring.follow(settings())

    assert "id-first" not in ring.keyring.uses()
    assert ring.tries(settings(), "last") == "notAuthenticated"
    assert [(use.key_id, use.reason) for use in ring.noted] == [("id-last", "revoked")]


def test_a_key_that_is_gone_keeps_the_moment_of_its_end() -> None:
    ring = Ring()
    ring.keyring.follow(settings("alice"))
    ring.keyring.follow(settings())
    ring.seconds += 60

    ring.keyring.follow(settings("bob"))

    assert ring.keyring.uses()["id-alice"].ended_utc == NOW


def test_the_key_of_the_owner_works_from_this_machine_only() -> None:
    ring, nobody = Ring(), settings()
    ring.keyring.admit_local("qms_of_this_run")

    assert ring.tries(nobody, "qms_of_this_run", "127.0.0.1") == "local"
    assert ring.tries(nobody, "qms_of_this_run", "::1") == "local"
    assert ring.tries(nobody, "qms_of_this_run", "192.0.2.1") == "notAuthenticated"
    assert ring.tries(nobody, "qms_of_another", "127.0.0.1") == "notAuthenticated"
    assert ring.tries(nobody, "q" * 2000, "127.0.0.1") == "notAuthenticated"


def test_a_keyring_without_an_owner_takes_nobody_for_one() -> None:
    ring = Ring()

    assert ring.tries(settings(), "q" * 2000, "127.0.0.1") == "notAuthenticated"
    assert not ring.keyring.is_local(KeyMatch(user="local", key_id="local"))
