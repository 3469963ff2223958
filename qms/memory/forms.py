"""Reads the fields of a request in other plain forms that models send, and says so in remarks.

`OTHER_NAMES`, `FLAT`, `TEXT_OF`, `COMMA_LISTS` and `ID_FIELDS` are all the rules by name; the other
rules follow from the type of a field. A form whose meaning is not plain stays as it was sent, so
that decoding refuses it. Every rule takes time linear in the value.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from qms.memory.entry import FIELD_ORDER
from qms.memory.errors import UNDECODABLE
from qms.memory.field_types import Form, Forms, folded

OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "limit": ("maxResults", "size"),
    "maxResults": ("limit", "size"),
    "topK": ("limit", "maxResults"),
    "count": ("limit", "maxResults", "size"),
    "q": ("query",),
    "search": ("query",),
    "question": ("query",),
    "context": ("query",),
    "text": ("query",),
    "content": ("text",),
    "memory": ("text", "entry"),
    "note": ("text", "entry"),
    "body": ("text",),
    "type": ("kind",),
    "category": ("kind",),
    "tag": ("tags",),
    "labels": ("tags",),
    "entryId": ("id",),
    "memoryId": ("id",),
    "uri": ("id",),
    "memories": ("entries",),
    "items": ("entries",),
    "changes": ("patch",),
    "updates": ("patch",),
    "fields": ("patch",),
}
"""Other names of a field, for requests that have no field of that name themselves."""

_ENTRY_KEYS = frozenset({*FIELD_ORDER, "text", "content", "ttlSeconds"})

FLAT: Mapping[str, frozenset[str]] = {
    "query": frozenset(),
    "filter": frozenset(),
    "page": frozenset(),
    "entry": _ENTRY_KEYS,
    "patch": _ENTRY_KEYS - {"id"},
}
"""Objects whose keys may stand beside them; an empty set means the keys of their type."""

TEXT_OF: Mapping[str, Callable[[str], dict[str, Any]]] = {
    "query": lambda text: {"text": text},
    "entry": lambda text: {"kind": "note", "body": text},
    "source": lambda text: {"url" if "://" in text[:_SHOWN] else "path": text},
}
"""Objects that a plain text stands for."""

COMMA_LISTS = frozenset({"tags", "anyTags", "keywords", "kinds", "tiers", "types", "ids"})
"""Lists of names without commas: a text is split at its commas."""

ID_FIELDS = frozenset({"id", "ids", "sourceId", "targetId", "to", "idA", "idB", "winner", "loser"})
"""Fields that hold ids of entries, which may come as `memory://<project>/<id>`."""

MAX_REMARKS = 20
"""At most this many remarks on the forms of one request."""

_ADDRESS = re.compile(r"memory://([^/?#\s]{1,128})/([^/?#\s]{1,300})")
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_BOOLEANS = {"true": True, "false": False}
_SHOWN = 64


class Remarks:
    """Collects remarks on the forms that were understood, up to `MAX_REMARKS`.

    With `is_text` the request came as texts, as in a query: numbers in texts need no remark.
    """

    def __init__(self, *, is_text: bool = False) -> None:
        self.texts: list[str] = []
        self.is_text = is_text

    def add(self, text: str) -> None:
        """Add a remark, once."""
        if text in self.texts:
            return
        if len(self.texts) < MAX_REMARKS:
            self.texts.append(text)
        elif len(self.texts) == MAX_REMARKS:
            self.texts.append("more fields were read in another form")


def read_forms(
    given: dict[str, Any], forms: Forms, remarks: Remarks, *, place: str = "", by_type: bool = False
) -> dict[str, Any]:
    """Return an object with its keys and values in the forms that its type takes.

    With `by_type` keys stay as they are: an entry keeps unknown keys, a removal guesses nothing.
    """
    named = given if by_type else _with_known_names(given, forms, remarks, place)
    read: dict[str, Any] = {}
    for name, value in named.items():
        form = forms.get(name)
        if form is None or (
            type(value) in form.types and form.is_settled and name not in ID_FIELDS
        ):
            read[name] = value
        else:
            read[name] = _Reader(name, place + name, remarks, by_type=by_type).read(value, form)
    return read


class _Reader:
    """Reads the value of one field; `path` is its place in the request."""

    def __init__(self, name: str, path: str, remarks: Remarks, *, by_type: bool) -> None:
        self._name = name
        self._path = path
        self._remarks = remarks
        self._by_type = by_type

    def read(self, value: Any, form: Form) -> Any:
        """Return the value in a form that the field takes, or as it is."""
        if isinstance(value, str):
            return self._text(value, form) if value else value
        if isinstance(value, list):
            return self._list(value, form)
        if not isinstance(value, dict) or not value:
            return value
        if list in form.types and dict not in form.types:
            self._say("one object was read as a list of one")
            return self._list([value], form)
        if form.types and dict not in form.types:
            return self._text_inside(value, form)
        if form.parts is None:
            return value
        inner = f"{self._path}."
        return read_forms(value, form.parts, self._remarks, place=inner, by_type=self._by_type)

    def _text_inside(self, value: dict[str, Any], form: Form) -> Any:
        text = value.get("text")
        if len(value) != 1 or not isinstance(text, str) or str not in form.types or form.values:
            return value
        self._say("an object with a text alone was read as the text")
        return text

    def _list(self, value: list[Any], form: Form) -> Any:
        if form.types and list not in form.types and len(value) == 1:
            self._say("a list of one was read as its item")
            return self.read(value[0], form)
        if form.item is None or list not in form.types:
            return value
        if form.item.is_settled and self._name not in ID_FIELDS:
            return value
        return [self.read(one, form.item) for one in value]

    def _text(self, text: str, form: Form) -> Any:
        if form.values is not None:
            return self._enum_value(text, form)
        if form.is_time:
            return self._time(text)
        if not form.types or str in form.types:
            return self._id(text) if self._name in ID_FIELDS else text
        if dict in form.types or list in form.types:
            return self._collection(text, form)
        return self._scalar(text, form)

    def _enum_value(self, text: str, form: Form) -> Any:
        assert form.values is not None
        found = form.values.get(folded(text[:_SHOWN]))
        if found is None:
            return self._collection(text, form) if list in form.types else text
        if found != text:
            self._say(f"{text[:_SHOWN]!r} was read as {found!r}")
        return found

    def _time(self, text: str) -> str:
        if _DAY.fullmatch(text):
            self._say("a day without a time was read as its beginning in UTC")
            return f"{text}T00:00:00Z"
        return text

    def _id(self, text: str) -> str:
        found = _ADDRESS.fullmatch(text) if text.startswith("memory://") else None
        if found is None:
            return text
        project, local = found.groups()
        entry_id = local.replace("%3A", ":").replace("%3a", ":")
        entry_id = entry_id if ":" in entry_id else f"{project}:{entry_id}"
        self._say(f"the address was read as the id {entry_id}")
        return entry_id

    def _collection(self, text: str, form: Form) -> Any:
        decoded = self._json(text, form)
        if decoded is not None:
            self._say("JSON in a text was read as its value")
            return self.read(decoded, form)
        if dict in form.types:
            make = TEXT_OF.get(self._name)
            if make is None:
                return text
            self._say(f"a text was read as {_shown_object(make)}")
            return make(text)
        if self._name in COMMA_LISTS:
            self._say("a text was read as a list")
            return self._list([one for one in map(str.strip, text.split(",")) if one], form)
        if form.item is None or str not in form.item.types:
            return text
        self._say("a text was read as a list of one")
        return [text]

    def _json(self, text: str, form: Form) -> Any:
        """Return the object or list that a text holds as JSON, if the field takes such a value."""
        wanted = {"{": dict, "[": list}.get(text.lstrip()[:1])
        if wanted is None or wanted not in form.types:
            return None
        try:
            decoded = msgspec.json.decode(text)
        except UNDECODABLE:
            return None
        keys = {*(form.parts or ()), *FLAT.get(self._name, ())}
        is_other = isinstance(decoded, dict) and keys and not decoded.keys() & keys
        return None if is_other else decoded

    def _scalar(self, text: str, form: Form) -> Any:
        short = text.strip()[:_SHOWN]
        if bool in form.types and short.casefold() in _BOOLEANS:
            self._say_scalar("true or false")
            return _BOOLEANS[short.casefold()]
        if int in form.types and _WHOLE_NUMBER.fullmatch(short):
            self._say_scalar("a number")
            return int(short)
        if float in form.types and _NUMBER.fullmatch(short):
            self._say_scalar("a number")
            return float(short)
        return text

    def _say_scalar(self, read: str) -> None:
        if not self._remarks.is_text:
            self._say(f"a text was read as {read}")

    def _say(self, text: str) -> None:
        self._remarks.add(f"{self._path}: {text}")


def _with_known_names(
    given: dict[str, Any], forms: Forms, remarks: Remarks, place: str
) -> dict[str, Any]:
    """Return an object with other names of its fields replaced, and flat keys moved inside."""
    if all(name in forms for name in given):
        return given
    named: dict[str, Any] = {name: value for name, value in given.items() if name in forms}
    for name, value in given.items():
        if name in forms:
            continue
        known = _known_name(name, forms, named)
        if known is not None:
            named[known] = value
            remarks.add(f"{place}{name[:_SHOWN]} was read as {place}{known}")
            continue
        outer = _flat_place(name, forms, named)
        if outer is None:
            named[name] = value
            continue
        inside = named.get(outer) or {}
        if isinstance(inside, str):
            inside = _Reader(outer, place + outer, remarks, by_type=False).read(
                inside, forms[outer]
            )
        named[outer] = {**inside, name: value}
        remarks.add(f"{place}{name[:_SHOWN]} was read as {place}{outer}.{name[:_SHOWN]}")
    return named


def _known_name(name: str, forms: Forms, named: Mapping[str, Any]) -> str | None:
    """Return the free field that differs in spelling only, or that this is another name of."""
    wanted = folded(name[:_SHOWN])
    spelled = next((one for one in forms if folded(one) == wanted), None)
    if spelled is not None:
        return spelled if spelled not in named else None
    others = _FOLDED_NAMES.get(wanted, ())
    return next((one for one in others if one in forms and one not in named), None)


def _flat_place(name: str, forms: Forms, named: Mapping[str, Any]) -> str | None:
    """Return the object that a key belongs into and that has room for it."""
    for outer, keys in FLAT.items():
        form = forms.get(outer)
        if form is None or dict not in form.types:
            continue
        inside = named.get(outer)
        if isinstance(inside, dict):
            is_open = name not in inside
        else:
            is_open = inside is None or (isinstance(inside, str) and outer in TEXT_OF)
        if is_open and (name in keys or _is_inside(name, form.parts or {})):
            return outer
    return None


def _is_inside(name: str, parts: Forms) -> bool:
    return _known_name(name, parts, {}) is not None or any(
        outer in parts and _is_inside(name, parts[outer].parts or {}) for outer in FLAT
    )


_FOLDED_NAMES = {folded(name): known for name, known in OTHER_NAMES.items()}


def _shown_object(make: Callable[[str], dict[str, Any]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in make("…").items()) + "}"
