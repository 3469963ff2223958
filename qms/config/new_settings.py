"""Adds settings that are new in this version to an older file, as comments.

The comments show what can be set; the values of the file do not change.
"""

from collections.abc import Iterator

from qms.config.toml_document import is_there, read
from qms.memory.errors import InvalidInputError

_OWN_TABLES = ("endpoint", "users", "permissions")
"""Tables whose names the user chooses: those of the template are examples."""


def with_new_keys(text: str, template: str) -> str:
    """Return the configuration with the settings that it lacks, from the template, as comments.

    Raises:
        InvalidInputError: the configuration is not TOML.
    """
    wanted, document = read(template), read(text)
    result = text
    for table, lines in _tables(template):
        if table[0] in _OWN_TABLES:
            continue
        new = [
            line
            for key, line in lines
            if is_there(wanted, (*table, key))
            and not is_there(document, (*table, key))
            and f"# {line}" not in text
        ]
        if new:
            result = _inserted(result, table, [f"# {line}" for line in new])
    return result if _has_same_values(result, text) else text


def _tables(template: str) -> Iterator[tuple[tuple[str, ...], list[tuple[str, str]]]]:
    """Yield the template's tables with their lines, by key."""
    table: tuple[str, ...] = ()
    lines: list[tuple[str, str]] = []
    for line in template.splitlines():
        if (header := _header(line)) is not None:
            if table:
                yield table, lines
            table, lines = header, []
        elif "=" in line and not line.startswith(("#", " ", "\t")):
            lines.append((line.partition("=")[0].strip(), line))
    if table:
        yield table, lines


def _inserted(text: str, table: tuple[str, ...], comments: list[str]) -> str:
    lines = text.split("\n")
    headers = [i for i, line in enumerate(lines) if _header(line) is not None]
    for position, start in enumerate(headers):
        if _header(lines[start]) == table:
            end = headers[position + 1] if position + 1 < len(headers) else len(lines)
            # After the last setting: a comment after it may belong to the next table.
            while end > start + 1 and lines[end - 1].strip()[:1] in ("", "#"):
                end -= 1
            ending = "\r" if lines[start].endswith("\r") else ""
            return "\n".join([*lines[:end], *(c + ending for c in comments), *lines[end:]])
    ending = "\r\n" if "\r\n" in text else "\n"
    return text.rstrip("\r\n") + ending * 2 + ending.join([f"# [{'.'.join(table)}]", *comments, ""])


def _header(line: str) -> tuple[str, ...] | None:
    stripped = line.strip()
    if not stripped.startswith("[") or stripped.startswith("[["):
        return None
    name, bracket, _ = stripped[1:].partition("]")
    return tuple(part.strip() for part in name.split(".")) if bracket else None


def _has_same_values(one: str, other: str) -> bool:
    try:
        return bool(read(one).unwrap() == read(other).unwrap())
    except InvalidInputError:
        return False
