"""`memoryctl logs`: the latest lines of the server's log, and those that come."""

import json
import logging
import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO, Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, checked_root, open_session
from qms.config.settings import LogLevel
from qms.domain.errors import invalid
from qms.telemetry.log_tail import tail
from qms.telemetry.logs import LOG_PLACE

PAUSE_S = 0.25

_COLOURS = {"warning": {"fg": "yellow"}, "error": {"fg": "red"}, "critical": {"fg": "red"}}


@click.command(cls=Verb, example="memoryctl logs --level warning --limit 50")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="How many lines."
)
@click.option(
    "--level",
    type=click.Choice([level.value for level in LogLevel]),
    default=LogLevel.DEBUG.value,
    help="From this level on.",
)
@click.option("--text", metavar="TEXT", help="Only lines that hold this.")
@click.option("--follow", is_flag=True, help="Go on with what comes, until Ctrl+C.")
@shared_options
def logs(asked: Asked, limit: int, level: str, text: str | None, follow: bool) -> None:
    """Show the latest lines of the server's log, the newest last."""
    if follow:
        _follow(asked, limit, level, text)
        return
    with open_session(asked) as session:
        found = session.administer("listLogs", size=limit, level=level, text=text)
    if asked.as_json:
        output.answer(found)
        return
    for fields in found["items"]:
        _show(fields)


def _follow(asked: Asked, limit: int, level: str, text: str | None) -> None:
    if asked.url is not None:
        raise invalid("follow", "reads the file of a root: run it on that machine, with --root")
    path = checked_root(asked) / LOG_PLACE
    output.note(f"on {path}, until Ctrl+C")
    show = _show_json if asked.as_json else _show
    coming = lines_to_come(path)
    next(coming)  # from here on nothing is missed
    for fields in tail(path, size=limit, level=level, text=text):
        show(fields)
    least = logging.getLevelNamesMapping()[level.upper()]
    for line in coming:
        if not line:
            time.sleep(PAUSE_S)
        elif (added := _read(line)) and _number(added) >= least and _holds(line, text):
            show(added)


def lines_to_come(path: Path) -> Generator[str, None, None]:
    """Yield the lines that are added to a file from now on, "" when there is none at the moment.

    A file that was set aside is read to its end before the one that took its place.
    """
    file: IO[str] | None = None
    rest, is_first = "", True
    try:
        while True:
            if file is None and path.exists():
                file = path.open(encoding="utf-8", errors="replace", newline="\n")
                file.seek(0, os.SEEK_END if is_first else os.SEEK_SET)
            is_first = False
            rest += file.readline() if file else ""
            if rest.endswith("\n"):
                yield rest.rstrip("\n")
                rest = ""
            elif file is not None and _was_replaced(file, path):
                rest += file.read()
                yield from filter(None, rest.split("\n"))
                file.close()
                file, rest = None, ""
            else:
                yield ""
    finally:
        if file is not None:
            file.close()


def _was_replaced(file: IO[str], path: Path) -> bool:
    try:
        return not os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False  # the next one is about to come


def _read(line: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _number(fields: dict[str, Any]) -> int:
    return logging.getLevelNamesMapping().get(str(fields.get("level")).upper(), 0)


def _holds(line: str, text: str | None) -> bool:
    return text is None or text.casefold() in line.casefold()


def _show_json(fields: dict[str, Any]) -> None:
    output.line(output.json_line(fields))


def _show(fields: dict[str, Any]) -> None:
    rest = dict(fields)
    moment, level = str(rest.pop("time", "")), str(rest.pop("level", ""))
    message = str(rest.pop("message", ""))
    more = " ".join(
        f"{name}={value if isinstance(value, str) else output.json_line(value)}"
        for name, value in rest.items()
    )
    output.styled_line(
        (f"{moment} ", {"dim": True}),
        (f"{level:<8}", _COLOURS.get(level, {})),
        (f"{message} ", {}),
        (more, {"dim": True}),
    )
