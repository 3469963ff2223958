"""Every function that takes a text of a caller, measured on every text that was made to freeze it.

Patterns are measured one by one in `test_patterns.py`; this is for loops, slices and repeated
searches around them.
"""

import io
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from qms.disk.archives import Member
from qms.disk.export_files import Export
from qms.disk.json_frames import frame
from qms.features.mining.blocks import find_code, find_steps, without_code
from qms.features.mining.slack import plain_text
from qms.features.mining.statements import find_statements
from qms.features.transfer.importers.import_formats import FORMATS, ImportFormat, Wanted
from qms.index.claims.claims import claim_of
from qms.index.words.query_plan import analyse
from qms.index.words.snippets import snippet
from qms.memory.errors import InvalidInputError, QmsError
from qms.memory.limits import Limits
from qms.memory.lines import encode_line, read_strictly
from qms.memory.texts import texts_of, without_parts
from qms.memory.validation import header_of, title_from
from qms.models.extractive_summarizer import shorten, split_sentences
from qms.models.hash_embedder import HashEmbedder
from qms.models.tags import tags_by_rule
from qms.telemetry.logs import clean
from qms.text.dates import date_terms, is_only_a_date
from qms.text.escapes import escape
from qms.text.flags import _judged
from qms.text.names import names_and_humps
from qms.text.secrets import find_leaks, redacted
from qms.text.terms import fold, language_of, stems, words
from tests.support.growth import MOST_RATIO, slowest_growth
from tests.support.hostile_texts import JSON_KEYS, TEXTS, Make

SIZES = (1024, 4096, 16_384)
UNNOTICED_S = 0.02
LIMITS = Limits()
NOW = datetime(2026, 3, 1, tzinfo=UTC)
QUERY = analyse("a token café")
EMBEDDER = HashEmbedder()


def all_of(read: Callable[[str], Iterable[object]]) -> Callable[[str], object]:
    return lambda text: sum(1 for _ in read(text))


def forgiving(read: Callable[[str], object]) -> Callable[[str], object]:
    """Return a function whose refusal counts as its work."""

    def work(text: str) -> None:
        with suppress(QmsError, ValueError):
            read(text)

    return work


def imported(form: str, text: str) -> int:
    data = text.encode()
    file = Member("a.md", len(data), lambda: io.BytesIO(data))
    wanted = Wanted(project="p", now=NOW)
    return sum(1 for _ in FORMATS[form].read(Export([file], {}, is_one_file=True), wanted))


def claimed(text: str) -> object:
    document: Any = {"id": "p:a", "kind": "note", "title": "t", "body": {"text": text}}
    document["timestamps"] = {"createdUtc": NOW, "updatedUtc": NOW}
    return claim_of(header_of(document), document)


WORK: dict[str, Callable[[str], object]] = {
    "find_leaks": lambda text: find_leaks({"body": {"text": text}}),
    "redacted": lambda text: redacted({"body": {"text": text}}),
    "flags": lambda text: _judged(encode_line({"body": {"text": text}})),
    "read_strictly": forgiving(lambda text: read_strictly(text.encode(), LIMITS)),
    "a JSON list": forgiving(lambda text: read_strictly(f"[{text}]".encode(), LIMITS)),
    "title_from": title_from,
    "without_parts": lambda text: without_parts(text, "<think>", "</think>"),
    "date_terms": date_terms,
    "is_only_a_date": is_only_a_date,
    "analyse": analyse,
    "names_and_humps": names_and_humps,
    "snippet": lambda text: snippet(QUERY, text),
    "fold": fold,
    "stems": lambda text: stems(words(text), language_of(words(text))),
    "hash embedder": lambda text: EMBEDDER.embed(EMBEDDER.pieces(text)[:1]),
    "split_sentences": split_sentences,
    "shorten": shorten,
    "claim_of": claimed,
    "tags_by_rule": lambda text: tags_by_rule(text, text, {"a-b": 1}, 5),
    "find_code": all_of(find_code),
    "without_code": without_code,
    "find_steps": all_of(find_steps),
    "find_statements": all_of(find_statements),
    "plain_text": lambda text: plain_text(text, {}),
    "frame": all_of(lambda text: frame([text.encode()])),
    "escape": escape,
    "clean": clean,
    **{f"import of {form}": forgiving(partial(imported, form)) for form in ImportFormat},
}


@pytest.mark.attack("83")
@pytest.mark.parametrize("text", TEXTS)
def test_work_on_a_text_grows_with_its_length(text: str) -> None:
    slow = {
        name: growth
        for name, work in WORK.items()
        if (growth := slowest_growth(work, TEXTS[text], sizes=SIZES, unnoticed_s=UNNOTICED_S))
        > MOST_RATIO
    }

    assert slow == {}


@pytest.mark.attack("83")
@pytest.mark.parametrize("body", JSON_KEYS)
def test_keys_of_json_are_read_in_linear_time(body: str) -> None:
    def work(text: str) -> None:
        try:
            value = read_strictly(text.encode(), LIMITS)
        except InvalidInputError:
            return
        sum(1 for _ in texts_of({"metadata": value}))

    assert slowest_growth(work, JSON_KEYS[body], sizes=(4096, 16_384, 65_536)) <= MOST_RATIO


def test_the_measure_finds_a_loop_that_copies_what_is_left() -> None:
    def work(text: str) -> None:
        while text:
            text = text[1:]

    def make(size: int) -> str:
        return "a" * size

    assert slowest_growth(work, make, sizes=(4096, 16_384, 65_536, 262_144)) > MOST_RATIO


def _is_made(make: Make) -> bool:
    return 500 <= len(make(1000)) <= 1500


def test_every_text_is_as_long_as_asked_for() -> None:
    assert [name for name, make in TEXTS.items() if not _is_made(make)] == []
