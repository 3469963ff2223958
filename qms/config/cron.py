"""Parses cron expressions of five fields, and computes the next run in a time zone."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import msgspec

LOCAL = "local"
"""The name for the time zone of the system."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS = (
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("day of week", 0, 7, _DAYS),
)
_ALL_HOURS = frozenset(range(24))
_LONGEST_DAYS = 366 * 9
"""The 29th of February recurs within eight years."""


class Cron(msgspec.Struct, frozen=True):
    """A schedule: the minutes, hours and days at which a job runs."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Sunday is 0."""
    takes_either_day: bool
    """True if day of month and day of week are both given: then one of them is enough."""

    def next_after(self, moment: datetime, zone: tzinfo | None) -> datetime | None:
        """Return the next run after a moment, in UTC; zone None is the system's.

        A local time that a clock change skips runs later by the length of the jump; one that
        occurs twice runs once, unless the schedule has every hour.
        """
        today = moment.astimezone(zone).date() - timedelta(days=1)
        for number in range(_LONGEST_DAYS):
            day = today + timedelta(days=number)
            if self._includes(day):
                found = min((one for one in self._moments(day, zone) if one > moment), default=None)
                if found is not None:
                    return found
        return None

    def _includes(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        in_month, in_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return in_month or in_week if self.takes_either_day else in_month and in_week

    def _moments(self, day: date, zone: tzinfo | None) -> Iterator[datetime]:
        folds = (0, 1) if self.hours == _ALL_HOURS else (0,)
        for hour in self.hours:
            for minute in self.minutes:
                for fold in folds:
                    local = datetime.combine(day, time(hour, minute, fold=fold), zone)
                    yield local.astimezone(UTC)


def parse_cron(text: str) -> Cron:
    """Return the schedule of a cron expression.

    Raises:
        ValueError: it is not valid; the message names the field.
    """
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise ValueError('must be a cron expression of five fields, as in "0 3 * * *"')
    sets = [_values(part, *field) for part, field in zip(parts, _FIELDS, strict=True)]
    minutes, hours, days, months, weekdays = sets
    has_both = parts[2][0] not in "*?" and parts[4][0] not in "*?"
    return Cron(minutes, hours, days, months, frozenset(one % 7 for one in weekdays), has_both)


def find_zone(name: str) -> tzinfo | None:
    """Return a time zone by its name; None for the system's.

    Raises:
        ValueError: this system has no such zone.
    """
    if name.casefold() == LOCAL:
        return None
    if name.upper() == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(f"this system has no time zone {name!r}") from None


def _values(part: str, name: str, low: int, high: int, words: tuple[str, ...]) -> frozenset[int]:
    found: set[int] = set()
    for piece in part.split(","):
        span, has_step, step_text = piece.partition("/")
        step = _number(step_text, name, 1, high, ()) if has_step else 1
        if span in ("*", "?"):
            first, last = low, high
        else:
            start, is_range, end = span.partition("-")
            first = _number(start, name, low, high, words)
            last = _number(end, name, low, high, words) if is_range else first
            if has_step and not is_range:
                last = high
        if first > last:
            raise ValueError(f"{name}: the range {span!r} ends before it begins")
        found.update(range(first, last + 1, step))
    return frozenset(found)


def _number(text: str, name: str, low: int, high: int, words: tuple[str, ...]) -> int:
    if text.casefold() in words:
        return words.index(text.casefold()) + (1 if low == 1 else 0)
    if not (text.isascii() and text.isdigit()) or not low <= int(text) <= high:
        raise ValueError(f"{name}: {text!r} is not {low} to {high}")
    return int(text)
