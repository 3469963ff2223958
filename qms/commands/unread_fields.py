"""Names the fields of a request that its types leave out: shapes of other servers allow any."""

from functools import cache
from typing import Any

import msgspec

from qms.memory.texts import SHOWN_KEY

MOST = 10
"""How many fields are named."""


def unread_fields(given: dict[str, Any], wanted: type[msgspec.Struct]) -> list[str]:
    """Return a remark on every field of a listed object that is not read."""
    found: list[str] = []
    for name, known in _open_lists(wanted).items():
        for number, item in enumerate(given.get(name) or ()):
            unread = [key for key in item if key not in known]
            found += [
                f"{name}[{number}].{key[:SHOWN_KEY]} is not known: left out" for key in unread
            ]
            if len(found) > MOST:
                return [*found[:MOST], "and more fields that are not known"]
    return found


@cache
def _open_lists(wanted: type[msgspec.Struct]) -> dict[str, frozenset[str]]:
    """Return the known fields of listed objects that take any field, by the name of the list."""
    info = msgspec.inspect.type_info(wanted)
    assert isinstance(info, msgspec.inspect.StructType)
    found: dict[str, frozenset[str]] = {}
    for field in info.fields:
        listed = _plain(field.type)
        item = _plain(getattr(listed, "item_type", None))
        if isinstance(item, msgspec.inspect.StructType) and not item.forbid_unknown_fields:
            found[field.encode_name] = frozenset(one.encode_name for one in item.fields)
    return found


def _plain(kind: Any) -> Any:
    """Return a type without its metadata."""
    return kind.type if isinstance(kind, msgspec.inspect.Metadata) else kind
