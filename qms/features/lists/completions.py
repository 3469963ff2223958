"""Completions of ids, tags, kinds and namespaces from the entries of a project."""

from collections.abc import Callable, Iterable

from qms.commands.call import Call
from qms.features.lists.list_entries import newest
from qms.memory.bodies import Kind
from qms.memory.entry import Header, split_id
from qms.memory.filters import Filter

MAX_COMPLETIONS = 100
"""At most this many are shown; one more is returned to signal that there are others."""


def complete(call: Call, field: str, start: str) -> list[str]:
    """Return values of a field that begin with `start`, those of the newest entries first."""
    if field == "kind":
        return [kind.value for kind in Kind if kind.value.startswith(start)]
    values_of = _FIELDS.get(field)
    if values_of is None:
        return []
    found: dict[str, None] = {}
    for record in newest(call, Filter()):
        found.update(dict.fromkeys(values_of(record.header, start)))
        if len(found) > MAX_COMPLETIONS:
            break
    return list(found)[: MAX_COMPLETIONS + 1]


def _ids(header: Header, start: str) -> Iterable[str]:
    """Return the id in the form that the input begins: whole, or without its project."""
    forms = (header.id, split_id(header.id)[1])
    return [form for form in forms if form.startswith(start)][:1]


def _tags(header: Header, start: str) -> Iterable[str]:
    return [tag for tag in header.tags if tag.startswith(start)]


def _namespaces(header: Header, start: str) -> Iterable[str]:
    namespace = header.namespace
    return [namespace] if namespace is not None and namespace.startswith(start) else []


_FIELDS: dict[str, Callable[[Header, str], Iterable[str]]] = {
    "id": _ids,
    "tag": _tags,
    "namespace": _namespaces,
}
