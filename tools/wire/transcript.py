"""What is written down of an answer, of a program that ended, of a talk."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tools.wire.exchange import Answer, parsed
from tools.wire.layout import laid_out, minified
from tools.wire.programs import Ended
from tools.wire.stable import Sheet
from tools.wire.traces import log_lines

PROGRESS = re.compile(r": +\d+ %$|entries have vectors; the rest follows")
"""In a line that says how far something is: how many of them there are depends on timing."""

LOGGED = "time="
"""How a log line begins."""

BACKGROUND = ("vectors are made anew [reason]",)
"""Log lines of work in the background that a talk may end before."""

_UNTOLD = {"date", "content-length", "connection", "transfer-encoding"}


def answered(
    answer: Answer, usual: Mapping[str, str], sheet: Sheet, *, shape_only: bool = False
) -> list[str]:
    """Return the lines for an answer: status, unusual headers and body, or the body's fields."""
    value = answer.value
    lines = [f"<-- {answer.status}"]
    lines += [f"{name}: {sheet.text(told)}" for name, told in _unusual(answer.headers, usual)]
    if isinstance(value, dict | list):
        told = _shape(value) if shape_only else _without_repetition(value)
        lines.append(laid_out(sheet.value(told)))
    elif answer.body:
        lines.append(sheet.text(answer.text).rstrip("\n"))
    return lines


def ended(left: Ended, sheet: Sheet) -> list[str]:
    """Return the lines for a program that ended."""
    value = parsed(left.stdout)
    lines = [f"<-- exit {left.code}"]
    if isinstance(value, dict | list):
        lines.append(laid_out(sheet.value(value)))
    elif left.stdout:
        lines.append(sheet.text(left.stdout).rstrip("\n"))
    return lines + _errors(left.stderr, sheet)


def talked(
    code: int, heard: Sequence[tuple[str, Sequence[Any]]], errors: str, sheet: Sheet
) -> list[str]:
    """Return the lines for a talk over standard input and output."""
    lines = []
    for method, messages in heard:
        lines.append(f"<-- {method}")
        lines += [laid_out(sheet.value(_without_repetition(one))) for one in messages]
    told = [line for line in _errors(errors, sheet) if not line.endswith(BACKGROUND)]
    return [*lines, f"<-- exit {code}", *told]


def _errors(text: str, sheet: Sheet) -> list[str]:
    """Return the lines of standard error: those for people, then the kinds of log lines."""
    logged = [line for line in text.splitlines() if line.startswith(LOGGED)]
    told = [line for line in text.splitlines() if not line.startswith(LOGGED)]
    lines = [f"stderr: {sheet.text(one)}" for one in told if not PROGRESS.search(one)]
    return lines + [f"stderr log: {kind}" for kind in log_lines("\n".join(logged), sheet.known)]


def _unusual(headers: Mapping[str, str], usual: Mapping[str, str]) -> list[tuple[str, str]]:
    told = [
        (name, value)
        for name, value in headers.items()
        if name not in _UNTOLD and usual.get(name) != value
    ]
    missing = [(name, "(missing)") for name in usual if name not in headers]
    return sorted(told + missing)


def _without_repetition(value: Any) -> Any:
    """Return an answer of MCP whose text is named, not told, where it is the structured content."""
    match value:
        case {"result": {"structuredContent": content, "content": [{"text": text}]} as result}:
            if parsed(text) != content:
                return value
            form = "minified" if text == minified(content) else "not minified"
            said = {**result["content"][0], "text": f"(the structured content, {form})"}
            return {**value, "result": {**result, "content": [said]}}
        case _:
            return value


def _shape(value: Any) -> Any:
    """Return the fields of a value, each with the kind of what it holds."""
    match value:
        case dict():
            return {key: _shape(one) for key, one in value.items()}
        case list():
            return [_shape(value[0])] if value else []
        case int() | float():
            return "number"
        case _:
            return type(value).__name__
