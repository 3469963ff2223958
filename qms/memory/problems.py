"""Finds every problem of an object that does not fit its type, each with its field and a remedy."""

from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from qms.memory.errors import InvalidInputError
from qms.memory.field_types import Form, folded, forms_of
from qms.memory.texts import SHOWN_KEY

MAX_PROBLEMS = 10
"""At most this many problems of one object are told."""

_COMPARED = 64
_MAX_NEAR = 2
_LEAST_LIKENESS = 0.6


class Problem(NamedTuple):
    """One field that is wrong, and why."""

    field: str
    reason: str


def told(problems: Collection[Problem], **details: Any) -> InvalidInputError:
    """Return one error that tells all problems; `field` is that of the first."""
    first = next(iter(problems))
    message = "; ".join(f"{one.field}: {one.reason}" for one in problems)
    errors = [{"field": one.field, "reason": one.reason} for one in problems]
    return InvalidInputError(message, field=first.field, errors=errors, **details)


def all_told(errors: Sequence[InvalidInputError]) -> InvalidInputError:
    """Return one error that tells several, with the details of the first."""
    if len(errors) == 1:
        return errors[0]
    first = errors[0].details
    listed = [
        {"field": one.details["field"], "reason": one.message.partition(": ")[2]} for one in errors
    ]
    message = "; ".join(one.message for one in errors)
    return InvalidInputError(message, **{**first, "errors": listed})


def problems_of(
    given: dict[str, Any], wanted: type[msgspec.Struct], *, place: str = "", strict: bool = True
) -> list[Problem]:
    """Return the first problems of an object, none if each of its fields fits its type."""
    return list(islice(_problems(given, wanted, place, strict=strict), MAX_PROBLEMS))


def problem_of(
    error: msgspec.ValidationError, place: str = "", form: Form | None = None
) -> Problem:
    """Return the problem that an error of msgspec describes, at its place."""
    reason, path = split_path(str(error))
    field = _joined(place, path)
    if reason.startswith("Object missing required field"):
        return Problem(_joined(field, _quoted(reason)), "is required")
    if reason.startswith("Object contains unknown field"):
        return Problem(_joined(field, _quoted(reason)) or "request", "is not known")
    values = _values_at(form, path)
    if reason.startswith("Invalid enum value") and values:
        return Problem(field, _not_one_of(reason.removeprefix("Invalid enum value "), values))
    return Problem(field or "request", reason[0].lower() + reason[1:])


def split_path(message: str) -> tuple[str, str]:
    """Return the message of a `msgspec.ValidationError` without its path, and the path."""
    reason, found, path = message.rpartition(" - at `")
    if not found or not path.endswith("`"):
        return message, ""
    return reason, path[:-1].removeprefix("key in ").removeprefix("$").removeprefix(".")


def shape_of(wanted: type[msgspec.Struct]) -> str:
    """Return the fields of a type in one line, those that may be left out with a `?`."""
    fields = msgspec.structs.fields(wanted)
    names = (one.encode_name + ("" if one.required else "?") for one in fields)
    return "{" + ", ".join(names) + "}"


def nearest(name: str, known: Collection[str]) -> list[str]:
    """Return the known names that look like a name, the same but for its spelling first."""
    by_spelling = {folded(one): one for one in known}
    wanted = folded(name[:_COMPARED])
    near = get_close_matches(wanted, by_spelling, n=_MAX_NEAR, cutoff=_LEAST_LIKENESS)
    return [by_spelling[one] for one in near]


def _problems(
    given: dict[str, Any], wanted: type[msgspec.Struct], place: str, *, strict: bool
) -> Iterator[Problem]:
    fields = {one.encode_name: one for one in msgspec.structs.fields(wanted)}
    forms = forms_of(wanted)
    if wanted.__struct_config__.forbid_unknown_fields:
        for name in given:
            if name not in fields:
                yield Problem(_joined(place, name[:SHOWN_KEY]), _unknown(name, fields, wanted))
    for name, field in fields.items():
        path = _joined(place, name)
        if name not in given:
            if field.required:
                yield Problem(path, "is required")
            continue
        value, form = given[name], forms[name]
        if form.object is not None and isinstance(value, dict):
            yield from _problems(value, form.object, path, strict=strict)
            continue
        try:
            msgspec.convert(value, field.type, strict=strict)
        except msgspec.ValidationError as error:
            yield problem_of(error, path, form)


def _unknown(name: str, fields: Collection[str], wanted: type[msgspec.Struct]) -> str:
    near = nearest(name, fields)
    hint = f"; did you mean {' or '.join(near)}?" if near else "."
    return f"is not known{hint} The fields are {shape_of(wanted)}"


def _values_at(form: Form | None, path: str) -> Collection[str]:
    """Return the values of the enum at a path inside a field, none if they are not known."""
    for step in filter(None, path.replace("[", ".[").split(".")):
        if form is not None:
            form = form.item if step.startswith("[") else (form.parts or {}).get(step)
    return form.values.values() if form is not None and form.values else ()


def _not_one_of(shown: str, values: Collection[str]) -> str:
    near = nearest(shown.strip("'"), values)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{shown[:_COMPARED]} is not one of {', '.join(values)}{hint}"


def _quoted(reason: str) -> str:
    # A key may hold backticks itself; then the text cannot be parsed for certain.
    return reason.partition("`")[2].partition("`")[0][:SHOWN_KEY]


def _joined(place: str, path: str) -> str:
    if not place or not path:
        return place or path
    return f"{place}{path}" if path.startswith("[") else f"{place}.{path}"
