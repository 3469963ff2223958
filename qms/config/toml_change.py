"""Changes TOML text and keeps comments, order and unknown keys.

After every change the new text is read back and compared with the same change made to plain values.
A rewrite that would lose or add anything else is refused.
"""

import math
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, Array, InlineTable, Item, Table
from tomlkit.toml_document import TOMLDocument

from qms.config.toml_document import is_there, items_at, read, unused_mark
from qms.memory.errors import InvalidInputError

Values = MutableMapping[str, Any]


def change(text: str, edit: Callable[[Values], None]) -> str:
    """Return the text after `edit`, which is applied to the document and to plain values.

    Raises:
        InvalidInputError: the text is not TOML, or cannot be rewritten without loss.
    """
    unix, restore = _with_plain_newlines(text)
    document = read(unix)
    expected: dict[str, Any] = document.unwrap()
    edit(expected)
    try:
        edit(document)
        result = document.as_string()
    except TOMLKitError as error:
        raise _not_rewritable(str(error)) from None
    if not _is_toml(result, expected):
        raise _not_rewritable("its tables are written in an unusual order")
    return restore(result)


def put(text: str, place: tuple[str, ...], value: Any) -> str:
    """Return the text with the value or table at `place` set; missing tables are created.

    Raises:
        InvalidInputError: the text is not TOML, or cannot be rewritten without loss.
    """
    unix, restore = _with_plain_newlines(text)
    expected: dict[str, Any] = read(unix).unwrap()
    _assign(expected, place, value)
    try:
        added = _added(unix, place, value)
    except TOMLKitError as error:
        raise _not_rewritable(str(error)) from None
    if added is not None and _is_toml(added, expected):
        return restore(added)
    return change(text, lambda values: _assign(values, place, value))


def put_all(text: str, values: Mapping[tuple[str, ...], Any]) -> str:
    """Return the text with several values set as `put` does, in one rewrite if possible.

    Raises:
        InvalidInputError: the text is not TOML, or cannot be rewritten without loss.
    """
    unix, restore = _with_plain_newlines(text)
    document = read(unix)
    expected: dict[str, Any] = document.unwrap()
    for place, value in values.items():
        _assign(expected, place, value)
    try:
        result = _all_put(document, values)
    except TOMLKitError as error:
        raise _not_rewritable(str(error)) from None
    if result is not None and _is_toml(result, expected):
        return restore(result)
    for place, value in values.items():
        text = put(text, place, value)
    return text


def remove(text: str, place: tuple[str, ...]) -> str:
    """Return the text without the key or table at `place`; comments that follow a table stay.

    Raises:
        KeyError: there is nothing at that path.
        InvalidInputError: the text is not TOML, or cannot be rewritten without loss.
    """
    unix, restore = _with_plain_newlines(text)
    expected: dict[str, Any] = read(unix).unwrap()
    _delete(expected, place)
    for candidate in (_cut_table(unix, place), _cut_key(unix, place)):
        if candidate is not None and _is_toml(candidate, expected, emptied=place[:-1]):
            return restore(candidate)
    raise _not_rewritable("its tables are written in an unusual order")


def _not_rewritable(reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"the file cannot be rewritten without loss ({reason}): make this change by hand"
    )


def _added(text: str, place: tuple[str, ...], value: Any) -> str | None:
    """Return the text with a new value in its proper place, or None when there is one already.

    tomlkit would insert it after the comments that follow a table. These usually belong to the next
    table, so it goes before them: after the last value of its own table, or of the last sibling.
    """
    document = read(text)
    if is_there(document, place):
        return None
    while len(place) > 1 and not is_there(document, place[:-1]):
        place, value = place[:-1], {place[-1]: value}
    if isinstance(value, dict):
        return _added_table(document, place, value)
    for table in items_at(document, place[:-1]):
        if isinstance(table, Table) and not table.is_super_table():
            before, after = _split_after(document, _last_own_item(table))
            return before + _rendered({place[-1]: value}) + after
    return None


def _all_put(document: TOMLDocument, values: Mapping[tuple[str, ...], Any]) -> str | None:
    """Return the document with all of these values, or None when one needs a new table."""
    for place, value in values.items():
        if is_there(document, place):
            _assign(document, place, value)
            continue
        tables = [table for table in items_at(document, place[:-1]) if isinstance(table, Table)]
        if len(tables) != 1 or tables[0].is_super_table():
            return None
        last = _last_own_item(tables[0]).trivia
        last.trail = (last.trail or "\n") + _rendered({place[-1]: value})
    return document.as_string()


def _added_table(document: TOMLDocument, place: tuple[str, ...], value: dict[str, Any]) -> str:
    while len(value) == 1 and isinstance(inner := next(iter(value.values())), dict):
        place, value = (*place, next(iter(value))), inner
    new = f"[{tomlkit.key(list(place)).as_string()}]\n{_rendered(value)}"
    siblings = [item for item in items_at(document, place[:-1]) if isinstance(item, Table)]
    if not siblings:
        text = document.as_string()
        return f"{text}{_line_end(text)}\n{new}" if text else new
    before, after = _split_after(document, _last_item(siblings[-1]))
    gap = "\n" if after and not after.startswith("\n") else ""
    return f"{before}\n{new}{gap}{after}"


def _rendered(values: dict[str, Any]) -> str:
    fragment = tomlkit.document()
    fragment.update(values)
    return fragment.as_string()


def _split_after(document: TOMLDocument, item: Item) -> tuple[str, str]:
    # The mark goes before the line end: tomlkit adds a line end where it does not see one.
    mark, trail = unused_mark(document.as_string()), item.trivia.trail
    item.trivia.trail = mark + trail
    before, _, after = document.as_string().partition(mark)
    before += trail
    return before + _line_end(before), after.removeprefix(trail)


def _line_end(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"


def _cut_table(text: str, place: tuple[str, ...]) -> str | None:
    """Return the text without one `[table]`: from its header to its last value, no further.

    The comments after the last value stay, for the reason that `_added` gives.
    """
    document = read(text)
    items = list(items_at(document, place))
    if len(items) != 1 or not isinstance(items[0], Table) or items[0].is_super_table():
        return None
    table = items[0]
    mark = unused_mark(text)
    table.trivia.indent = mark + table.trivia.indent
    upto, after = _split_after(document, _last_item(table))
    before, found, _ = upto.partition(mark)
    if not found:
        return None
    return before + (after.removeprefix("\n") if before.endswith("\n\n") else after)


def _cut_key(text: str, place: tuple[str, ...]) -> str:
    document = read(text)
    _delete(document, place)
    return document.as_string()


def _last_own_item(table: Table) -> Item:
    """Return the last value of the table itself, or the table when it has none."""
    last: Item = table
    for key, item in table.value.body:
        if key is None:
            continue
        if isinstance(item, (Table, AoT)) and not key.is_dotted():
            break
        last = _last_item(item) if isinstance(item, Table) else item
    return last


def _last_item(table: Table) -> Item:
    for key, item in reversed(table.value.body):
        if key is None:
            continue
        if isinstance(item, Table):
            return _last_item(item)
        if isinstance(item, AoT) and item.body:
            return _last_item(item.body[-1])
        return item
    return table


def _assign(values: Values, place: tuple[str, ...], value: Any) -> None:
    for depth, name in enumerate(place[:-1], start=1):
        inner = values.setdefault(name, {})
        if not isinstance(inner, MutableMapping):
            field = ".".join(place[:depth])
            raise InvalidInputError(f"{field}: is a value, not a table", field=field)
        values = inner
    values[place[-1]] = value


def _delete(values: Values, place: tuple[str, ...]) -> None:
    for name in place[:-1]:
        values = values[name]
    del values[place[-1]]


def _is_toml(text: str, expected: dict[str, Any], *, emptied: tuple[str, ...] = ()) -> bool:
    """Say whether a text has exactly these values; the `emptied` table may be missing.

    A table that exists only as the prefix of `[users.alice]` disappears with alice.
    """
    try:
        found = _comparable(read(text).unwrap())
    except InvalidInputError:
        return False
    wanted = _comparable(expected)
    return bool(found == wanted or (emptied and found == _without_empty(wanted, emptied)))


def _without_empty(values: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    if len(place) > 1:
        values[place[0]] = _without_empty(values[place[0]], place[1:])
    if not values[place[0]]:
        del values[place[0]]
    return values


def _comparable(value: Any) -> Any:
    """Return the value with every NaN, which is not equal to itself, replaced by its name."""
    if isinstance(value, dict):
        return {key: _comparable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_comparable(inner) for inner in value]
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def _with_plain_newlines(text: str) -> tuple[str, Callable[[str], str]]:
    """Return the text with `\\n` only, and a function that restores the old line ends."""
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n"), lambda changed: changed.replace("\n", "\r\n")
    return text, lambda changed: changed


def array_of(entry: Mapping[str, Any]) -> Array:
    """Return an array of one table, written with one table per line."""
    array = tomlkit.array()
    array.append(_inline(entry))
    return array.multiline(True)


def append_table(tables: Any, entry: Mapping[str, Any]) -> None:
    """Append a table to an array of tables, in the style of the array."""
    tables.append(entry if isinstance(tables, AoT) else _inline(entry))


def _inline(entry: Mapping[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update(entry)
    return table
