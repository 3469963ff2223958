"""Drops empty fields of requests and entries: `null` and empty texts, each with a warning.

Models that must send every field of a schema send `null` or an empty text for the fields that they
do not use. Where a request selects what is removed, an empty condition is refused instead.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from qms.memory.errors import InvalidInputError, invalid
from qms.memory.field_types import choices_of

_EMPTY: tuple[Any, ...] = (None, "", [], {})

_ABSENT = object()

_FILTER = "filter"
"""An object whose texts are conditions: dropping an empty one would widen the result."""

_AS_GIVEN = frozenset({"patch", "settings", "metadata"})
"""Objects in which `null` has a meaning of its own."""


class Field(NamedTuple):
    """What an empty value may mean for one field."""

    is_optional: bool
    takes_null: bool
    takes_text: bool
    takes_empty_text: bool
    parts: "Fields | None" = None
    """The fields of an object inside."""


Fields = Mapping[str, Field]


def without_empty_fields(
    given: dict[str, Any],
    fields: Fields,
    remarks: list[str],
    *,
    place: str = "",
    known: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an object without empty optional fields, and add a remark for each of them.

    A value that equals the one in `known`, the stored object, stays.
    """
    kept: dict[str, Any] = {}
    for name, value in given.items():
        field = fields.get(name)
        old = known.get(name, _ABSENT) if known else _ABSENT
        if field is None:
            kept[name] = value
        elif field.is_optional and _is_left_out(value, field) and value != old:
            shown = "null" if value is None else "an empty text"
            remarks.append(f"{place}{name}: {shown} counts as left out")
        elif field.parts is not None and isinstance(value, dict):
            below = old if isinstance(old, dict) else None
            inner = f"{place}{name}."
            kept[name] = without_empty_fields(value, field.parts, remarks, place=inner, known=below)
        else:
            kept[name] = value
    return kept


def check_conditions(given: dict[str, Any], fields: Fields) -> None:
    """Raise `InvalidInputError` for an empty condition: it would select more than was meant."""
    for name, value in given.items():
        field = fields.get(name)
        if field is None:
            continue
        if value == "" and isinstance(value, str):
            raise empty_condition(name)
        if field.parts is None or not isinstance(value, dict):
            continue
        if not value:
            raise empty_condition(name)
        for part, condition in value.items():
            if part in field.parts and condition in _EMPTY:
                raise empty_condition(f"{name}.{part}")


def empty_condition(field: str) -> InvalidInputError:
    """Return the error for an empty condition."""
    return invalid(field, "is an empty condition: leave it out or give it a value")


def _is_left_out(value: Any, field: Field) -> bool:
    if value is None:
        return not field.takes_null
    return isinstance(value, str) and not value and not field.takes_empty_text


@cache
def fields_of(kind: type[msgspec.Struct]) -> Fields:
    """Return what an empty value means for each field of a type."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return {one.encode_name: _field(one) for one in described.fields}


def _field(field: inspect.Field) -> Field:
    choices = list(choices_of(field.type))
    objects = [one for one in choices if isinstance(one, inspect.StructType)]
    takes_text = any(isinstance(one, inspect.StrType | inspect.AnyType) for one in choices)
    is_as_given = field.encode_name in _AS_GIVEN
    return Field(
        is_optional=not field.required,
        takes_null=any(isinstance(one, inspect.NoneType | inspect.AnyType) for one in choices),
        takes_text=takes_text,
        # With any other default, an empty text means: use the default.
        takes_empty_text=takes_text and field.default in ("", msgspec.NODEFAULT),
        parts=_parts(objects[0].cls, field) if len(objects) == 1 and not is_as_given else None,
    )


def _parts(kind: type[msgspec.Struct], field: inspect.Field) -> Fields:
    if field.encode_name != _FILTER:
        return fields_of(kind)
    return {
        name: one._replace(takes_empty_text=one.takes_text) for name, one in fields_of(kind).items()
    }
