"""Which entries of a store are retired: replaced by one that stands, directly or through others.

A relation `supersedes` counts when its source lives, is trusted at least as much as its target, and
the target is not permanent. What nothing replaces stands; what can be reached from it is retired.
Of entries that replace each other in a circle with nothing above it, the one changed last stands:
so nothing is ever hidden for the sake of an entry that is hidden itself.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from qms.domain.changes import ChangeSet
from qms.domain.entry import CurationTier, Header
from qms.domain.lifecycle import is_expired
from qms.store.view import StoreView

_TRUST = {tier: number for number, tier in enumerate(CurationTier)}
_ALWAYS = datetime.max.replace(tzinfo=UTC)

Edges = Mapping[str, Iterable[str]]


class _Known(msgspec.Struct, frozen=True):
    """An answer, and the moments for which it is true."""

    view: StoreView
    since: datetime
    until: datetime
    retired: frozenset[str]


class Supersession:
    """Keeps what replaces what in a store; nothing is looked at before somebody asks."""

    def __init__(self, view: Callable[[], StoreView]) -> None:
        self._view = view
        self._lock = threading.Lock()
        self._targets: dict[str, frozenset[str]] | None = None
        self._known: _Known | None = None

    def follow(self, _sequence: int, change_set: ChangeSet) -> None:
        """Take in what a commit did, once it is visible."""
        with self._lock:
            if self._targets is None:
                return
            view = self._view()
            for change in change_set.changes:
                record = view.get(change.id)
                self._note(self._targets, change.id, record.header if record else None)

    def retired(self, now: datetime) -> frozenset[str]:
        """Return the ids of all entries that are retired now."""
        with self._lock:
            view, known = self._view(), self._known
            if known is not None and known.view is view and known.since <= now < known.until:
                return known.retired
            if self._targets is None:
                self._targets = {}
                for entry_id, record in view.records.items():
                    self._note(self._targets, entry_id, record.header)
            until = _next_expiry(view, self._targets, now)
            retired = retired_by(_counting(view, self._targets, now), _changed_last(view))
            self._known = _Known(view, now, until, retired)
            return retired

    @staticmethod
    def _note(targets: dict[str, frozenset[str]], entry_id: str, header: Header | None) -> None:
        relations = header.relations if header else ()
        found = frozenset(one.target_id for one in relations if one.type == "supersedes")
        if found:
            targets[entry_id] = found
        else:
            targets.pop(entry_id, None)


def retired_by(edges: Edges, age: Callable[[str], object]) -> frozenset[str]:
    """Return what is retired when each key replaces its values; of a circle the oldest go.

    Linear in the edges. Whoever comes first in the order of the descent and is not retired yet has
    nothing above it but, at most, its own circle.
    """
    above: dict[str, list[str]] = {}
    for source, targets in edges.items():
        for target in targets:
            above.setdefault(target, []).append(source)
    seen: set[str] = set()
    retired: set[str] = set()
    for first in reversed(_finished(edges)):
        if first in seen:
            continue
        circle = _reach([first], above)
        standing = max(circle, key=age)  # type: ignore[arg-type]  # any value with an order
        below = _reach(circle, edges)
        seen |= below
        retired |= below - {standing}
    return frozenset(retired)


def _finished(edges: Edges) -> list[str]:
    """Return all entries, each after everything that was first reached through it."""
    done: dict[str, None] = {}
    entered: set[str] = set()
    for start in edges:
        path = [(start, iter(edges.get(start, ())))] if start not in entered else []
        entered.add(start)
        while path:
            entry_id, targets = path[-1]
            target = next((one for one in targets if one not in entered), None)
            if target is None:
                path.pop()
                done[entry_id] = None
            else:
                entered.add(target)
                path.append((target, iter(edges.get(target, ()))))
    return list(done)


def _reach(start: Iterable[str], edges: Edges) -> set[str]:
    found = set(start)
    waiting = list(found)
    while waiting:
        fresh = set(edges.get(waiting.pop(), ())) - found
        found |= fresh
        waiting += fresh
    return found


def _counting(view: StoreView, targets: Edges, now: datetime) -> dict[str, list[str]]:
    """Return the relations that count: the others are proposals for a curator."""
    found: dict[str, list[str]] = {}
    for source, names in targets.items():
        newer = view.get(source)
        if newer is None or is_expired(newer.header, now):
            continue
        trust = _TRUST[newer.header.curation_tier]
        for target in names:
            older = view.get(target)
            if older is None or older.header.is_permanent:
                continue
            if trust >= _TRUST[older.header.curation_tier]:
                found.setdefault(source, []).append(target)
    return found


def _next_expiry(view: StoreView, sources: Iterable[str], now: datetime) -> datetime:
    """Return when the next entry that replaces others stops to live."""
    ends = (
        record.header.ttl_utc
        for source in sources
        if (record := view.get(source)) is not None and record.header.ttl_utc is not None
    )
    return min((end for end in ends if end > now), default=_ALWAYS)


def _changed_last(view: StoreView) -> Callable[[str], tuple[int, datetime, str]]:
    def age(entry_id: str) -> tuple[int, datetime, str]:
        record = view.records[entry_id]
        return record.order, record.header.timestamps.updated_utc, entry_id

    return age
