"""Words, stems and languages of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qms.text.stop_words import STOP_WORDS
from qms.text.terms import fold, is_wide, language_of, plain_words, small_words, stems, words


def stemmed(text: str) -> list[str]:
    found = words(text)
    return stems(found, language_of(found))


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Straße ÄRGER naïve", "strasse arger naive"),
        ("Ёлка и новый йод", "елка и новый йод"),
        ("Ελλάδα ΟΔΟΣ", "ελλαδα οδοσ"),
        ("Ｆｕｌｌ ｗｉｄｔｈ ﬁ", "full width fi"),
        ("مُحَمَّد", "محمد"),
        ("한국어", "한국어"),
    ],
)
def test_folding_drops_what_writers_leave_out_and_keeps_what_makes_a_letter(
    text: str, folded: str
) -> None:
    assert fold(text) == folded


def test_words_are_letters_and_digits() -> None:
    assert words("Don't panic: user_name=42, (v2.1)!") == [
        "don",
        "t",
        "panic",
        "user",
        "name",
        "42",
        "v2",
        "1",
    ]


def test_vowel_signs_do_not_end_a_word() -> None:
    assert words("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("東京都 tower", ["東京", "京都", "tower"]),
        ("猫", ["猫"]),
        ("データ2件", ["デー", "ータ", "2", "件"]),
        ("한국어 책", ["한국", "국어", "책"]),
        ("ไทยดี", ["ไท", "ทย", "ยด", "ดี"]),
    ],
)
def test_scripts_without_spaces_become_pairs(text: str, pairs: list[str]) -> None:
    assert words(text) == pairs
    assert "".join(plain_words(text)) == text.replace(" ", "")


def test_pairs_are_told_from_words() -> None:
    assert is_wide("東京")
    assert is_wide("ดี")
    assert not is_wide("tokyo")
    assert not is_wide("über")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The server was restarted because of the new configuration", "english"),
        ("database timeout", "english"),
        ("for i in range(n): if x is not None: return s", "english"),
        ("de facto standard", "english"),
        ('<ul><li class="item">a</li><li lang="en">b</li></ul>', "english"),
        ("Das ist ein Hund", "german"),
        ("Wo ist die Datei?", "german"),
        ("Où est le fichier?", "french"),
        ("¿Dónde está el archivo que subimos ayer?", "spanish"),
        ("Il server non è stato riavviato dopo la modifica", "italian"),
        ("Waarom is het bestand niet opgeslagen?", "dutch"),
        ("Vi har inte sparat filen som du skickade", "swedish"),
        ("Serwer nie działa, bo zabrakło pamięci", "polish"),
        ("Мы не сохранили файл", "russian"),
        ("База данных недоступна", "russian"),
        ("الخادم لا يعمل", "arabic"),
        ("数据库连接失败", ""),
        ("", ""),
    ],
)
def test_the_language_of_a_short_text_is_found(text: str, language: str) -> None:
    assert language_of(words(text)) == language


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("the servers were running", "the server was running"),
        ("Die Häuser sind alt und schön", "Das Haus ist alt und schön"),
        ("les chevaux sont dans les prairies", "le cheval est dans la prairie"),
        ("Мы открыли новые файлы", "Мы не открыли новый файл"),
        ("Nie ma tych książkami", "Nie ma tej książki"),
    ],
)
def test_inflected_words_share_a_stem(first: str, second: str) -> None:
    in_both = {found for found in set(stemmed(first)) & set(stemmed(second)) if len(found) > 3}

    assert in_both


@pytest.mark.parametrize("language", [*STOP_WORDS, "arabic", "tamil", ""])
def test_every_language_that_can_be_found_has_stems(language: str) -> None:
    assert len(stems(["haus", "книги", "42"], language)) == 3


def test_text_that_is_not_english_is_not_cut_by_english_rules() -> None:
    assert stemmed("数据库 running")[-1] == "running"


def test_small_words_are_of_the_language_of_the_query() -> None:
    assert "die" in small_words(words("wo ist die Datei"))
    assert "die" not in small_words(words("why did the process die"))
    assert "the" in small_words(words("数据库"))


def test_every_stop_word_is_in_the_form_that_words_take() -> None:
    odd = [word for found in STOP_WORDS.values() for word in found if words(word) != [word]]

    assert odd == []


@given(st.text())
def test_stems_stand_one_for_one_and_hold_no_space(text: str) -> None:
    found = words(text)
    cut = stems(found, language_of(found))

    assert len(cut) == len(found)
    assert all(stem and not any(map(str.isspace, stem)) for stem in cut)
    assert all(len(word) <= 64 for word in found)


def test_a_very_long_word_is_shortened() -> None:
    assert [len(word) for word in words("x" * 100_000)] == [64]
