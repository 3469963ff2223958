"""Limits of every list and object in a request, checked before the request is decoded.

The fields of a request type are found by reflection, so that a new field has a limit at once:
`listItems`, or the one that `limited_by` names. Lists and objects inside a value have `valueItems`.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect

from qms.memory.limits import LIMIT_KEY, Limits, limit_named
from qms.memory.validation import over_limit

LIST_ITEMS = "listItems"
VALUE_ITEMS = "valueItems"

_FIXED = ""
"""Instead of the name of a limit: the type has a fixed length, which msgspec checks."""
_KEY_CHARACTERS = 64
_CONTAINERS = (list, tuple, dict)


class _Place(NamedTuple):
    """A place of a request: the limit of its items, and the places below it."""

    limit: str
    fields: dict[str, "_Place"]
    items: "_Place | None" = None

    def below(self, key: object) -> "_Place":
        return self.fields.get(key, self.items or _INSIDE) if isinstance(key, str) else _INSIDE


_INSIDE = _Place(VALUE_ITEMS, {})


def check_lists(given: dict[str, Any], wanted: type[msgspec.Struct], limits: Limits) -> None:
    """Raise `InvalidInputError` for the first list or object that is over its limit."""
    _check(given, "", _place_of(wanted), limits)


def _check(value: Any, name: str, place: _Place, limits: Limits) -> None:
    maximum = limit_named(limits, place.limit) if place.limit != _FIXED else len(value)
    if len(value) > maximum:
        raise over_limit(name.lstrip(".") or "request", len(value), maximum, place.limit)
    if isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, _CONTAINERS):
                step = f".{str(key)[:_KEY_CHARACTERS]}"
                _check(item, name + step, place.below(key), limits)
        return
    for number, item in enumerate(value):
        if isinstance(item, _CONTAINERS):
            _check(item, f"{name}[{number}]", place.items or _INSIDE, limits)


@cache
def _place_of(kind: type[msgspec.Struct]) -> _Place:
    return _place(inspect.type_info(kind))


def _place(kind: inspect.Type) -> _Place:
    parts = list(_parts(kind))
    fields = [
        field for part in parts if isinstance(part, inspect.StructType) for field in part.fields
    ]
    below = [*_item_types(parts)]
    return _Place(
        limit=_limit_of(parts),
        fields={field.encode_name: _place(field.type) for field in fields},
        items=_place(below[0]) if below else None,
    )


def _parts(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Yield a type and the alternatives that it consists of."""
    yield kind
    if isinstance(kind, inspect.Metadata):
        yield from _parts(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _parts(one)


def _item_types(parts: Iterable[inspect.Type]) -> Iterator[inspect.Type]:
    for part in parts:
        item = getattr(part, "item_type", None) or getattr(part, "value_type", None)
        if item is not None and not isinstance(item, inspect.AnyType):
            yield item


def _limit_of(parts: Iterable[inspect.Type]) -> str:
    is_fixed = False
    for part in parts:
        if isinstance(part, inspect.Metadata) and LIMIT_KEY in (part.extra or {}):
            return str((part.extra or {})[LIMIT_KEY])
        is_list = isinstance(part, inspect.CollectionType | inspect.DictType)
        is_fixed |= is_list and getattr(part, "max_length", None) is not None
    return _FIXED if is_fixed else LIST_ITEMS
