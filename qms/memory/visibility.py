"""Hides the parts of an entry that name a project closed to the caller.

Hidden parts are relations into projects that the caller cannot open, existing or not, and metadata
marks of an entry that came from such a project. Answers leave them out, replacements keep them.
"""

from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import msgspec

from qms.memory.entry import Document, Header, split_id
from qms.memory.filters import Filter
from qms.memory.slugs import is_slug

COPIED_FROM, MOVED_FROM = "copiedFrom", "movedFrom"

SOURCE_MARKS = (COPIED_FROM, MOVED_FROM)
"""Metadata keys that name the entry from which this one was copied or moved."""

_COPIED, _MOVED, _ESCAPE = COPIED_FROM.encode(), MOVED_FROM.encode(), b"\\u"
"""A line without any of these has no mark; in a hand-edited line a key may contain an escape."""

_NO_VALUE = "\0"
"""The value that a filter gets in place of a hidden mark; no mark has this value."""


class Visibility:
    """What one caller may see; `opens` says which projects the caller can open."""

    def __init__(self, opens: Callable[[str], bool]) -> None:
        self.opens = cache(opens)

    def shows(self, entry_id: str) -> bool:
        """Say whether the caller can open the project that an id names."""
        project = split_id(entry_id)[0]
        return not project or self.opens(project)

    def hides_part_of(self, header: Header, line: bytes) -> bool:
        """Say whether the entry has a hidden part, decoding its line only when it may have one."""
        if header.relations and not all(self.shows(one.target_id) for one in header.relations):
            return True
        if _COPIED not in line and _MOVED not in line and _ESCAPE not in line:
            return False
        return bool(self._hidden_marks(msgspec.json.decode(line)))

    def shown(self, document: Document) -> Document:
        """Return the document without its hidden parts; the same object when it has none.

        The document may be unchecked, such as a conflict copy.
        """
        less: Document = {}
        relations = document.get("relations")
        if isinstance(relations, list):
            kept = [one for one in relations if self._shows_relation(one)]
            if len(kept) < len(relations):
                less["relations"] = kept
        hidden = self._hidden_marks(document)
        if hidden:
            metadata = document["metadata"]
            less["metadata"] = {key: metadata[key] for key in metadata if key not in hidden}
        if not less:
            return document
        # A field that becomes empty is left out, as in an entry that never had it.
        return {
            key: less.get(key, one)
            for key, one in document.items()
            if less.get(key, one) or key not in less
        }

    def with_hidden(self, document: Document, before: Document) -> Document:
        """Return the replacement of `before` with the hidden parts of `before` added."""
        old = before.get("relations", [])
        hidden = [one for one in old if not self._shows_relation(one)]
        if hidden:
            names = {_name(one) for one in hidden}
            given = [one for one in document.get("relations", []) if _name(one) not in names]
            is_as_before = given == [one for one in old if one not in hidden]
            document = {**document, "relations": old if is_as_before else [*given, *hidden]}
        marks = self._hidden_marks(before)
        if marks:
            document = {**document, "metadata": {**document.get("metadata", {}), **marks}}
        return document

    def shown_filter(self, wanted: Filter) -> Filter:
        """Return a filter that matches no hidden mark."""
        marks = self._hidden_marks({"metadata": wanted.metadata})
        if not marks:
            return wanted
        masked = {**(wanted.metadata or {}), **dict.fromkeys(marks, _NO_VALUE)}
        return msgspec.structs.replace(wanted, metadata=masked)

    def limited_to(self, projects: Collection[str] | None) -> "Visibility":
        """Return this visibility restricted to these projects; None is all."""
        if projects is None:
            return self
        known = {one.casefold() for one in projects}
        return Visibility(lambda slug: slug.casefold() in known and self.opens(slug))

    def _shows_relation(self, relation: Any) -> bool:
        target = relation.get("targetId") if isinstance(relation, dict) else None
        return not isinstance(target, str) or self.shows(target)

    def _hidden_marks(self, document: Document) -> dict[str, Any]:
        metadata = document.get("metadata")
        if not isinstance(metadata, dict):
            return {}
        return {mark: metadata[mark] for mark in SOURCE_MARKS if self._hides(metadata.get(mark))}

    def _hides(self, mark: object) -> bool:
        return isinstance(mark, str) and is_slug(split_id(mark)[0]) and not self.shows(mark)


SHOWS_ALL = Visibility(lambda _slug: True)
"""The visibility of the machine's owner, who can read the files."""


def _name(relation: dict[str, Any]) -> tuple[Any, Any]:
    return relation["type"], relation["targetId"]
