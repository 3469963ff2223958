"""Corrects refused requests: an error tells every problem and carries an example that works.

The example is the caller's own request with the wrong fields corrected or left out, if that is
possible and short; else the example of the command. A removal is never corrected: a condition that
is left out would remove more.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import msgspec

from qms.commands.command import Command
from qms.commands.requests import Conditions, in_known_forms
from qms.memory.bodies import MAIN_FIELDS, Kind
from qms.memory.entry import FIELD_ORDER
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.field_types import Form, Forms, forms_of
from qms.memory.forms import ID_FIELDS
from qms.memory.limits import Limits
from qms.memory.problems import nearest

MAX_EXAMPLE_CHARACTERS = 4096
MAX_EXAMPLE_VALUES = 200

_ENTRY_FIELDS = ("entry", "patch")


@contextmanager
def taught(row: Command, sent: Mapping[str, Any], limits: Limits) -> Iterator[None]:
    """Add all problems and an example to an `InvalidInputError` that is raised inside."""
    try:
        yield
    except InvalidInputError as error:
        if "secret" in error.details:
            raise  # the text is refused, not its form, and is never repeated
        field = error.details.get("field", "request")
        reason = error.message.removeprefix(f"{field}: ")
        error.details.setdefault("errors", [{"field": field, "reason": reason}])
        fields = [one["field"] for one in error.details["errors"]]
        corrected = _corrected(row, dict(sent), limits, fields)
        error.details.setdefault("example", row.example if corrected is None else corrected)
        raise


def _corrected(
    row: Command, sent: dict[str, Any], limits: Limits, fields: list[str]
) -> dict[str, Any] | None:
    if row.toolset is None or issubclass(row.request, Conditions) or not _is_short(sent):
        return None
    try:
        read, _ = in_known_forms(sent, row.request, limits)
        given = deepcopy(read)
        for field in fields:
            steps = field.partition("[")[0].split(".")
            if _is_given(read, steps) or not _is_given(given, steps):
                _correct(given, steps, row)
        msgspec.convert(given, row.request)
    except (InvalidInputError, msgspec.ValidationError):
        return None
    return given if given != read else None


def _is_given(request: Any, steps: list[str]) -> bool:
    for step in steps:
        if not isinstance(request, dict) or step not in request:
            return False
        request = request[step]
    return True


def _correct(given: dict[str, Any], steps: list[str], row: Command) -> None:
    """Correct the value at the path of a problem, or leave it out."""
    forms = forms_of(row.request)
    outer = next((one for one in _ENTRY_FIELDS if isinstance(given.get(one), dict)), None)
    if outer is not None and steps[0] not in forms:
        _correct_entry(given[outer], steps)
        return
    place: Any = given
    example: Any = row.example
    for step in steps[:-1]:
        place, example = place.get(step), example.get(step) or {}
        parts = forms[step].parts if step in forms else None
        if parts is None or not isinstance(place, dict) or not isinstance(example, dict):
            return
        forms = parts
    _correct_value(place, steps[-1], forms, example)


def _correct_value(
    place: dict[str, Any], name: str, forms: Forms, example: Mapping[str, Any]
) -> None:
    form = forms.get(name)
    if form is None:
        value = place.pop(name, None)
        # The one id that a request needs may have come under any name.
        ids = [one for one in forms if one in ID_FIELDS and one in example]
        near = nearest(name, forms) or (ids if len(ids) == 1 else [])
        meant = next((one for one in near if one not in place), None)
        if meant is not None and _fits(value, forms[meant]):
            place[meant] = value
        return
    value = place.pop(name, None)
    values = form.values.values() if form.values else ()
    values_near = nearest(value, values) if isinstance(value, str) else []
    if values_near:
        place[name] = values_near[0]
    elif name in example:
        place[name] = example[name]


def _fits(value: Any, form: Form) -> bool:
    return not form.types or type(value) in form.types


def _correct_entry(entry: dict[str, Any], steps: list[str]) -> None:
    match steps:
        case ["kind"]:
            entry["kind"] = _kind_for(entry)
        case ["body", *_]:
            entry["body"] = _some_text(entry)
        case [name, *_]:
            entry.pop(name, None)


def _kind_for(entry: dict[str, Any]) -> str:
    """Return the kind that was most likely meant."""
    near = nearest(str(entry.get("kind")), [*Kind])
    body = entry.get("body")
    fields = body.keys() if isinstance(body, dict) else frozenset[str]()
    by_field = (kind for kind, names in MAIN_FIELDS.items() if names[0] in fields)
    return near[0] if near else next(by_field, Kind.NOTE).value


def _some_text(entry: dict[str, Any]) -> str:
    """Return the first text of the body or, without one, of a key that no entry has.

    Raises:
        InvalidInputError: there is none.
    """
    body = entry.get("body")
    values = body if isinstance(body, dict) else entry
    texts = (
        value
        for key, value in values.items()
        if isinstance(value, str) and value.strip() and (values is body or key not in FIELD_ORDER)
    )
    text = next(texts, None)
    if text is None:
        raise invalid("body", "is required")
    return text


def _is_short(sent: dict[str, Any]) -> bool:
    """Say whether a request is short enough to be repeated in an error."""
    characters = values = 0
    waiting: list[Any] = [sent]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, dict):
            characters += sum(map(len, value))
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        if characters > MAX_EXAMPLE_CHARACTERS or values + len(waiting) > MAX_EXAMPLE_VALUES:
            return False
    return True
