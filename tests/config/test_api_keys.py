"""Keys are kept as hashes and looked up without raising, whatever is sent."""

from datetime import UTC, datetime, timedelta

import pytest

from qms.config.api_keys import MAX_KEY_CHARACTERS, KeyRecord, hash_key
from qms.config.settings import Settings, User

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def settings(**keys: KeyRecord) -> Settings:
    return Settings(users={name: User(keys=(record,)) for name, record in keys.items()})


def record(key: str, expires_utc: datetime | None = None) -> KeyRecord:
    return KeyRecord(id=f"id-{key}", sha256=hash_key(key), expires_utc=expires_utc)


def test_a_key_names_its_user_and_its_id() -> None:
    match = settings(alice=record("one"), bob=record("two")).find_key("two", NOW)
    assert match is not None
    assert (match.user, match.key_id) == ("bob", "id-two")


def test_several_keys_of_a_user_work_side_by_side() -> None:
    both = Settings(users={"alice": User(keys=(record("old"), record("new")))})
    assert [both.find_key(key, NOW) is not None for key in ("old", "new")] == [True, True]


@pytest.mark.attack("4")
def test_a_key_ends_at_the_instant_of_its_expiry() -> None:
    held = settings(alice=record("one", expires_utc=NOW))
    assert held.find_key("one", NOW - timedelta(microseconds=1)) is not None
    assert held.find_key("one", NOW) is None


@pytest.mark.attack("2")
@pytest.mark.parametrize("key", ["", " ", "On", "onf", "one ", "ONE", "one\n"])
def test_a_key_that_is_nearly_right_is_nobodys(key: str) -> None:
    assert settings(alice=record("one")).find_key(key, NOW) is None


@pytest.mark.attack("3")
@pytest.mark.parametrize("key", ["schlüssel", "\0", "\ud800", "ключ", "k" * 1_000_000])
def test_a_strange_key_is_nobodys_and_raises_nothing(key: str) -> None:
    assert settings(alice=record("one")).find_key(key, NOW) is None


def test_a_key_of_the_greatest_length_works_and_a_longer_one_does_not() -> None:
    longest = "k" * MAX_KEY_CHARACTERS
    held = settings(alice=record(longest), bob=record(longest + "k"))
    assert held.find_key(longest, NOW) is not None
    assert held.find_key(longest + "k", NOW) is None
