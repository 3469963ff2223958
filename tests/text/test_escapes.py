import json

import pytest

from qms.text.escapes import escape, escape_json

UNSAFE = "\x00\x07\x1b\x7f\x9b\u200e\u202e\u2028\u2066\ufeff\U000e0041\ud800"


@pytest.mark.parametrize("character", UNSAFE)
def test_an_unsafe_character_becomes_an_escape(character: str) -> None:
    assert escape(f"a{character}b").isascii()
    assert escape(f"a{character}b").startswith("a\\")


def test_line_breaks_are_kept_only_on_request() -> None:
    assert escape("a\r\n\tb") == r"a\r\n\tb"
    assert escape("a\r\n\tb", keep="\n\t") == "a\\r\n\tb"


def test_ordinary_text_of_any_script_is_left_alone() -> None:
    text = "Grüße, 寿司, שלום, مرحبا, 😀"

    assert escape(text) == text


@pytest.mark.parametrize("character", UNSAFE)
def test_json_keeps_its_value(character: str) -> None:
    text = escape_json(json.dumps({character: [character]}, ensure_ascii=False, indent=2))

    assert text.isascii()
    assert json.loads(text) == {character: [character]}
