"""Parses times on the command line: an instant, a date, or a duration from now."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import click

_LENGTH = re.compile(r"(\d{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def wire_text(moment: datetime) -> str:
    """Return an instant as in JSON requests."""
    return moment.isoformat().replace("+00:00", "Z")


def _convert(
    sign: int, context: click.Context, parameter: click.Parameter, given: str | None
) -> datetime | None:
    if given is None:
        return None
    try:
        if length := _LENGTH.fullmatch(given):
            return now() + sign * timedelta(**{_UNITS[length[2]]: int(length[1])})
        moment = datetime.fromisoformat(given)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{given!r} is not a time: write 2026-12-31, 2026-12-31T18:00:00Z or 30d",
            ctx=context,
            param=parameter,
        ) from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def moment_option(*names: str, is_past: bool, help: str) -> Callable[[Any], Any]:  # noqa: A002 - click's own word
    """Return an option that takes an RFC 3339 instant, a date, or a duration such as `30d`.

    A bare date is its midnight in UTC; a duration counts back from now if `is_past`.
    """
    sign = -1 if is_past else 1
    return click.option(*names, metavar="TIME", callback=partial(_convert, sign), help=help)
