"""What each field of a request or an entry takes, found from its type."""

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect


class Form(NamedTuple):
    """What one field takes."""

    types: frozenset[type]
    """The types of JSON values that are accepted; empty for any value."""
    values: Mapping[str, str] | None = None
    """The values of an enum by their folded spelling."""
    is_time: bool = False
    object: type[msgspec.Struct] | None = None
    """The type of an object inside, if it has one."""
    parts: "Forms | None" = None
    """The fields of that object."""
    item: "Form | None" = None
    """What the items of a list take."""

    @property
    def is_settled(self) -> bool:
        """Say whether a value of an accepted type needs no further look."""
        return self.values is None and self.parts is None and self.item is None and not self.is_time


Forms = Mapping[str, Form]


def folded(name: str) -> str:
    """Return a name without case, underscores, hyphens and spaces."""
    return name.replace("_", "").replace("-", "").replace(" ", "").casefold()


@cache
def forms_of(kind: type[msgspec.Struct]) -> Forms:
    """Return what each field of a type takes."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return {one.encode_name: _form(one.type) for one in described.fields}


def _form(kind: inspect.Type) -> Form:
    choices = list(choices_of(kind))
    objects = [one for one in choices if isinstance(one, inspect.StructType)]
    values = {folded(one): one for choice in choices for one in _enum_values(choice)}
    items = [_form(item) for choice in choices if (item := _item_type(choice)) is not None]
    return Form(
        types=_json_types(choices),
        values=values or None,
        is_time=any(isinstance(one, inspect.DateTimeType) for one in choices),
        object=objects[0].cls if len(objects) == 1 else None,
        parts=forms_of(objects[0].cls) if len(objects) == 1 else None,
        item=items[0] if len(items) == 1 else None,
    )


_JSON_TYPES: tuple[tuple[Any, frozenset[type]], ...] = (
    (inspect.StrType | inspect.EnumType | inspect.LiteralType, frozenset({str})),
    (inspect.DateTimeType, frozenset({str})),
    (inspect.BoolType, frozenset({bool})),
    (inspect.IntType, frozenset({int})),
    (inspect.FloatType, frozenset({float, int})),
    (inspect.NoneType, frozenset({type(None)})),
    (inspect.StructType | inspect.DictType, frozenset({dict})),
    (inspect.CollectionType, frozenset({list})),
)


def _json_types(choices: list[inspect.Type]) -> frozenset[type]:
    """Return the types of JSON values; none when one of the choices takes anything."""
    found = [
        next((types for of, types in _JSON_TYPES if isinstance(one, of)), None) for one in choices
    ]
    return frozenset().union(*(one for one in found if one)) if None not in found else frozenset()


def _enum_values(kind: inspect.Type) -> Iterator[str]:
    if isinstance(kind, inspect.EnumType):
        yield from (one.value for one in _members(kind.cls) if isinstance(one.value, str))
    elif isinstance(kind, inspect.LiteralType):
        yield from (one for one in kind.values if isinstance(one, str))


def _members(kind: type[Enum]) -> list[Enum]:
    return list(kind)


def _item_type(kind: inspect.Type) -> inspect.Type | None:
    return kind.item_type if isinstance(kind, inspect.CollectionType) else None


def choices_of(kind: inspect.Type) -> Iterator[inspect.Type]:
    """Yield the alternatives of a type, without their annotations."""
    if isinstance(kind, inspect.Metadata):
        yield from choices_of(kind.type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from choices_of(one)
    else:
        yield kind
