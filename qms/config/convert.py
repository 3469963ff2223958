"""Converts plain values to structs, and reports the path of every error and unknown key."""

import difflib
import enum
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar, get_args, get_origin

import msgspec

Place = tuple[str | int, ...]
"""The path of a value: table names, keys, and positions in arrays."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a name may not contain: line breaks, controls and bidirectional overrides."""

T = TypeVar("T")

_ERROR_PLACE = re.compile(r"\.([^.\[\]`]+)|\[(\d+)\]")
_PLAIN_WORDS = {
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "a text",
    "`bool`": "true or false",
    "`array`": "an array",
    "`object`": "a table",
}


class SettingError(ValueError):
    """A setting that cannot be used: its path and the reason."""

    def __init__(self, place: Place, reason: str) -> None:
        super().__init__(reason)
        self.place = place
        self.reason = reason


class Standing(enum.StrEnum):
    """The severity of a remark; an edit may add only `odd` ones."""

    ODD = "odd"
    """Accepted, with a warning."""
    KEPT = "kept"
    """Works because an earlier version accepted it."""
    VOID = "void"
    """Has no effect, although an earlier version accepted it."""


class Remark(msgspec.Struct, frozen=True):
    """A warning about a setting, which does not make the configuration invalid."""

    place: Place
    reason: str
    standing: Standing = Standing.ODD


def to_struct(data: Mapping[str, Any], kind: type[T], place: Place, remarks: list[Remark]) -> T:
    """Return the struct for a table; unknown keys become remarks.

    Raises:
        SettingError: a value is of the wrong type or out of its range.
    """
    known = _known(data, kind, place, remarks)
    try:
        return msgspec.convert(known, kind)
    except msgspec.ValidationError as error:
        raise _flaw(error, kind, place) from None


def _known(
    data: Mapping[str, Any], kind: type, place: Place, remarks: list[Remark]
) -> dict[str, Any]:
    """Return the values of known keys, nested sections too; add a remark for each unknown key."""
    fields = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    remarks.extend(unknown_keys(data, fields, place))
    known: dict[str, Any] = {}
    for name, value in data.items():
        inner = fields.get(name)
        if inner is None:
            continue
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            section = (*place, name)
            known[name] = _known(as_table(value, section), inner, section, remarks)
        elif isinstance(value, float) and not math.isfinite(value):
            raise SettingError((*place, name), "must be a finite number")
        else:
            known[name] = value
    return known


def unknown_keys(data: Mapping[str, Any], names: Iterable[str], place: Place) -> Iterator[Remark]:
    """Yield a remark for each key that is not among `names`."""
    known = list(names)
    for name in data:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f": did you mean {near[0]}?" if near else ""
            yield Remark((*place, name), f"unknown setting, kept and ignored{hint}")


def _flaw(error: msgspec.ValidationError, kind: type, place: Place) -> SettingError:
    reason, _, where = str(error).partition(" - at `$")
    inner: Place = tuple(
        int(position) if position else name for name, position in _ERROR_PLACE.findall(where)
    )
    choices = _choices(kind, inner)
    if choices:
        reason = f"must be one of {', '.join(choices)}"
    for word, plain in _PLAIN_WORDS.items():
        reason = reason.replace(word, plain)
    reason = reason.replace("`", "")
    return SettingError((*place, *inner), reason[:1].lower() + reason[1:])


def _choices(kind: Any, place: Place) -> list[str]:
    """Return the values of the enumeration at this path, or none."""
    for step in place:
        if isinstance(step, int):
            kind = get_args(kind)[0] if get_origin(kind) is tuple else None
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
            kind = types.get(step)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return [str(member.value) for member in kind]
    return []


def as_table(value: Any, place: Place) -> Mapping[str, Any]:
    """Return `value` if it is a table, else raise `SettingError`."""
    if not isinstance(value, Mapping):
        raise SettingError(place, "must be a table")
    return value


def quoted(text: str) -> str:
    """Return the beginning of a text in quotes, safe to print."""
    return msgspec.json.encode(text[:100].encode("utf-8", "replace").decode()).decode()
