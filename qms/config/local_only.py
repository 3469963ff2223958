"""Settings that reach outside the root: they can be changed in the file, never over HTTP."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from qms.config.convert import Place
from qms.config.paths import is_absolute
from qms.config.settings import fold_slug
from qms.config.toml_file import field_name
from qms.config.toml_text import TomlText
from qms.memory.errors import InvalidInputError

SECTIONS: tuple[str, ...] = (
    "llm",
    "chat",
    "oauth",
    "storage",
    "global.group",
    "endpoint.*.documentRoots",
    "users.*.oauth",
)
"""Sections that are local only; `*` is any project or user. A name may precede its feature."""

PATHS: tuple[str, ...] = (
    "global.storageRoot",
    "global.backupRoot",
    "global.tlsCertificate",
    "global.tlsKey",
    "global.embedding.model",
    "global.reranker.model",
    "endpoint.*.storagePath",
)
"""Paths: one that is absolute, before or after a change, is not changed over HTTP."""

VARIABLE_SUFFIX = "Env"
"""The suffix of a setting that names an environment variable, in any section."""

_DRIVE = re.compile(r"[A-Za-z]:")
_OWNERS = ("endpoint", "users")
_OWNER_STEPS = 2


def check_outside(before: str, after: str, file: str) -> None:
    """Raise `InvalidInputError` when a change touches a setting that reaches outside the root.

    Removing a whole project or user with its settings is allowed.
    """
    old, new = dict(_leaves(before)), dict(_leaves(after))
    kept = {place[:_OWNER_STEPS] for place in new if place[0] in _OWNERS}
    fields = [
        field_name(place)
        for place in dict.fromkeys([*old, *new])
        if repr(old.get(place)) != repr(new.get(place))
        and (place in new or place[0] not in _OWNERS or place[:_OWNER_STEPS] in kept)
        and _reaches_outside(place, old.get(place), new.get(place))
    ]
    if fields:
        raise InvalidInputError(
            f"{', '.join(fields)}: reaches outside the root and is not changed over HTTP; change it"
            f" in {file} on the machine of the server",
            field=fields[0],
            fields=fields,
        )


def _reaches_outside(place: Place, old: Any, new: Any) -> bool:
    if any(isinstance(step, str) and step.endswith(VARIABLE_SUFFIX) for step in place[-1:]):
        return True
    if any(_is_below(place, section) for section in SECTIONS):
        return True
    is_path = any(_is_below(place, path) for path in PATHS)
    return is_path and (_is_absolute(old) or _is_absolute(new))


def _is_below(place: Place, pattern: str) -> bool:
    steps = pattern.split(".")
    return len(place) >= len(steps) and all(
        wanted in ("*", step) for wanted, step in zip(steps, place, strict=False)
    )


def _is_absolute(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return is_absolute(value) or value.startswith(("/", "\\")) or bool(_DRIVE.match(value))


def _leaves(text: str) -> Iterator[tuple[Place, Any]]:
    """Yield every non-empty value with its path; a project is named by its slug, not its table."""
    values = TomlText(text).values()
    endpoints = values.get("endpoint")
    if isinstance(endpoints, Mapping):
        values["endpoint"] = {
            fold_slug(str(table.get("slug", name))): table
            for name, table in endpoints.items()
            if isinstance(table, Mapping)
        }
    yield from _below(values, ())


def _below(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _below(inner, (*place, name))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for position, inner in enumerate(value):
            yield from _below(inner, (*place, position))
    elif value not in ("", [], {}) or (len(place) == _OWNER_STEPS and place[0] in _OWNERS):
        yield place, value
