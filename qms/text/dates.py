"""Date terms: turns dates in queries, and the times of entries, into search terms.

A term is a year (`y2023`), a month of any year (`m05`) or a day of any year (`m05d08`), so that
`8 May`, `mai 2023` and `2023-05-08` match an entry by its time, whatever its text says.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from qms.text.terms import fold

_NAMES = """
january february march april may june july august september october november december
jan feb _ apr _ jun jul aug sep oct nov dec
januar februar marz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november december
styczen luty marzec kwiecien maj czerwiec lipiec sierpien wrzesien pazdziernik listopad grudzien
stycznia lutego marca kwietnia maja czerwca lipca sierpnia wrzesnia pazdziernika listopada grudnia
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
ocak subat mart nisan mayis haziran temmuz agustos eylul ekim kasim aralik
tammikuu helmikuu maaliskuu huhtikuu toukokuu kesakuu heinakuu elokuu syyskuu lokakuu marraskuu _
"""
_MONTHS = {
    name: number
    for names in _NAMES.strip().splitlines()
    for number, name in enumerate(names.split(), start=1)
    if name != "_"
}
_OTHER_MEANINGS = frozenset({"may", "march", "mars", "marco", "mart", "mei", "luty"})
"""Months that are also other words: they count only with a capital letter or next to a number."""
_BETWEEN = frozenset({"st", "nd", "rd", "th", "of", "de", "di", "den", "er"})
"""Words between a day and its month."""
_MONTH_SIGNS = frozenset("月월")
_DAY_SIGNS = frozenset("日일")

_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_NUMERIC = re.compile(r"(?<!\d)((?:19|20)\d\d)([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?!\d)")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONGEST_LEFTOVER = 3


def instant_terms(instant: datetime) -> list[str]:
    """Return the date terms of an instant."""
    return [f"y{instant.year}", f"m{instant.month:02}", f"m{instant.month:02}d{instant.day:02}"]


def date_terms(text: str) -> tuple[str, ...]:
    """Return the terms of the dates that a text names."""
    found = [*_numeric_dates(text), *_worded_dates(_TOKEN.findall(text))]
    return tuple(dict.fromkeys(found))


def is_month(word: str) -> bool:
    """Say whether a folded word is the name of a month in any supported language."""
    return word in _MONTHS


def is_only_a_date(text: str) -> bool:
    """Say whether a text names a day or a month and nothing else."""
    tokens = [fold(token) for token in _TOKEN.findall(text)]
    words = (token for token in tokens if not token.isdecimal() and token not in _MONTHS)
    is_dated = any(term.startswith("m") for term in date_terms(text))
    return is_dated and all(len(word) <= _LONGEST_LEFTOVER for word in words)


def _numeric_dates(text: str) -> Iterator[str]:
    for year, _, month, day in _NUMERIC.findall(text):
        if 1 <= int(month) <= 12:
            yield f"y{year}"
            yield from _terms(int(month), _day(day))


def _worded_dates(tokens: list[str]) -> Iterator[str]:
    for place, token in enumerate(tokens):
        if _YEAR.fullmatch(token):
            yield f"y{token}"
        elif _at(tokens, place + 1) in _MONTH_SIGNS and token.isdecimal():
            day = _day(_at(tokens, place + 2)) if _at(tokens, place + 3) in _DAY_SIGNS else None
            yield from _terms(int(token[:2]), day)
        elif (month := _MONTHS.get(fold(token))) is not None:
            day = _day_beside(tokens, place)
            if (
                fold(token) not in _OTHER_MEANINGS
                or token[0].isupper()
                or day
                or _year(tokens, place)
            ):
                yield from _terms(month, day)


def _terms(month: int, day: int | None) -> Iterator[str]:
    if 1 <= month <= 12:
        yield f"m{month:02}"
        if day is not None:
            yield f"m{month:02}d{day:02}"


def _day_beside(tokens: list[str], place: int) -> int | None:
    before = place - 1
    while fold(_at(tokens, before)) in _BETWEEN:
        before -= 1
    return _day(_at(tokens, before)) or _day(_at(tokens, place + 1))


def _year(tokens: list[str], place: int) -> bool:
    return _YEAR.fullmatch(_at(tokens, place + 1)) is not None


def _day(token: str) -> int | None:
    is_short_number = token.isdecimal() and len(token) <= 2
    return int(token) if is_short_number and 1 <= int(token) <= 31 else None


def _at(tokens: list[str], place: int) -> str:
    return tokens[place] if 0 <= place < len(tokens) else ""
