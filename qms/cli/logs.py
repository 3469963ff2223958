"""`memoryctl logs`: show the latest lines of the server's log, and follow it."""

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
from qms.memory.errors import invalid
from qms.telemetry.log_tail import tail
from qms.telemetry.logs import LOG_PLACE

PAUSE_S = 0.25

_COLOURS = {"warning": {"fg": "yellow"}, "error": {"fg": "red"}, "critical": {"fg": "red"}}


@click.command(cls=Verb, example="memoryctl logs --level warning --limit 50")
@click.option(
    "--limit",
    "--lines",
    "limit",
    type=click.IntRange(1, 500),
    default=50,
    show_default=True,
    help="Number of lines.",
)
@click.option(
    "--level",
    type=click.Choice([level.value for level in LogLevel]),
    default=LogLevel.DEBUG.value,
    help="Minimum level.",
)
@click.option("--text", metavar="TEXT", help="Only lines that contain this text.")
@click.option("--follow", is_flag=True, help="Keep printing new lines, until Ctrl+C.")
@shared_options
def logs(asked: Asked, limit: int, level: str, text: str | None, follow: bool) -> None:
    """Show the latest lines of the server's log, newest last."""
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
        raise invalid("follow", "reads a local log file: run it on that machine, with --root")
    path = checked_root(asked) / LOG_PLACE
    output.note(f"following {path}, stop with Ctrl+C")
    show = _show_json if asked.as_json else _show
    new_lines = lines_to_come(path)
    next(new_lines)  # opens the file at its end: no line is missed from here on
    for fields in tail(path, size=limit, level=level, text=text):
        show(fields)
    least = logging.getLevelNamesMapping()[level.upper()]
    for line in new_lines:
        if not line:
            time.sleep(PAUSE_S)
        elif (added := _read(line)) and _number(added) >= least and _contains(line, text):
            show(added)


def lines_to_come(path: Path) -> Generator[str, None, None]:
    """Yield the lines that are added to a file from now on, and "" when there is none yet.

    After a log rotation the old file is read to its end before the new one.
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
        return False  # being rotated: the new file does not exist yet


def _read(line: str) -> dict[str, Any] | None:
    try:
        fields = json.loads(line)
    except ValueError:
        return None
    return fields if isinstance(fields, dict) else None


def _number(fields: dict[str, Any]) -> int:
    return logging.getLevelNamesMapping().get(str(fields.get("level")).upper(), 0)


def _contains(line: str, text: str | None) -> bool:
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
