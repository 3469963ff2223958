"""The title index: which entries have the same kind, namespace and case-folded title.

Only writes use it, to find duplicates. After a load it is therefore built at first use, and a store
that is only read never pays for it.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from immutables import Map


class Titled(msgspec.Struct, frozen=True, gc=False):
    """Several entries of one kind, namespace and case-folded title."""

    prints: "Map[str, int]"
    """Fingerprint of title and body, by id."""
    ids: "Map[int, tuple[str, ...]]"
    """The ids of each fingerprint: more than one only for exact duplicates."""


class _Loaded:
    """The ids by title after a load, built at first use."""

    def __init__(self, make: Callable[[], dict[int, str | Titled]]) -> None:
        self._make: Callable[[], dict[int, str | Titled]] | None = make
        self._found: dict[int, str | Titled] = {}

    def found(self) -> dict[int, str | Titled]:
        make = self._make
        if make is not None:
            self._found = make()
            self._make = None  # it references all loaded entries, also those that change later
        return self._found


class TitleIndex:
    """Ids by title, immutable like a view: the loaded ones, and the changes since."""

    __slots__ = ("_changed", "_loaded")

    def __init__(
        self, loaded: _Loaded, changed: "Map[int, str | Titled | None] | None" = None
    ) -> None:
        self._loaded = loaded
        self._changed: Map[int, str | Titled | None] = Map() if changed is None else changed

    @classmethod
    def made_by(cls, make: Callable[[], dict[int, str | Titled]]) -> "TitleIndex":
        """Return the index of loaded entries; `make` is called at first use."""
        return cls(_Loaded(make))

    def prepare(self) -> None:
        """Build the index now, so that the next write need not."""
        self._loaded.found()

    def get(self, key: int) -> str | Titled | None:
        """Return the one id under a key, several of them, or None."""
        if key in self._changed:
            return self._changed[key]
        return self._loaded.found().get(key)

    def set(self, key: int, found: str | Titled | None) -> "TitleIndex":
        """Return the index with another value, or none, under a key."""
        return TitleIndex(self._loaded, self._changed.set(key, found))


def title_key(kind: str, namespace: str | None, title: str) -> int:
    """Return the key of a kind, namespace and case-folded title."""
    return hash((str.__str__(kind), namespace, title.casefold()))


def fingerprint(title: str, body: Any) -> int:
    """Return a number that is equal for equal titles and bodies."""
    return hash((title, msgspec.json.encode(body, order="sorted")))
