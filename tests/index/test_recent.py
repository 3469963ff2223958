"""Remembering what was computed of the latest keys."""

from qms.index.recent import LONGEST_KEPT, Recent


def test_a_value_is_computed_once_while_its_key_keeps_coming() -> None:
    computed: list[str] = []

    def length(key: str) -> int:
        computed.append(key)
        return len(key)

    recent = Recent(length, most=3)
    for number in range(20):
        assert recent["often"] == 5
        assert recent[f"once {number}"] == len(f"once {number}")

    assert computed.count("often") == 1
    assert len(computed) == 21


def test_a_key_that_came_long_ago_is_computed_anew() -> None:
    computed: list[str] = []
    recent = Recent(computed.append, most=3)

    for key in ("a", "b", "c", "d", "e", "f", "g", "a"):
        recent[key]

    assert computed == ["a", "b", "c", "d", "e", "f", "g", "a"]


def test_no_more_than_twice_the_keys_are_remembered() -> None:
    recent = Recent(str.upper, most=10)

    for number in range(1000):
        recent[str(number)]
        assert len(recent) + len(recent._former) <= 20


def test_a_very_long_key_is_computed_and_not_remembered() -> None:
    recent = Recent(str.upper, most=10)

    assert recent["x" * (LONGEST_KEPT + 1)] == "X" * (LONGEST_KEPT + 1)
    assert recent["y" * LONGEST_KEPT] == "Y" * LONGEST_KEPT

    assert list(recent) == ["y" * LONGEST_KEPT]
