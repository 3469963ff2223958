"""Finds the retired entries of a store: those superseded, directly or not, by an active one.

A relation `supersedes` counts when its source has not expired, is trusted at least as much as its
target, and the target is not permanent. An entry that nothing replaces is active; everything that
can be reached from it is retired. In a cycle that nothing outside replaces, the entry changed last
is active: so no entry is hidden by one that is hidden itself.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from qms.memory.changes import ChangeSet
from qms.memory.entry import CurationTier, Header
from qms.memory.retention import is_expired
from qms.store.view import StoreView

_TRUST = {tier: number for number, tier in enumerate(CurationTier)}
_ALWAYS = datetime.max.replace(tzinfo=UTC)

Edges = Mapping[str, Iterable[str]]


class _Known(msgspec.Struct, frozen=True):
    """A result, and the time for which it is valid."""

    view: StoreView
    since: datetime
    until: datetime
    retired: frozenset[str]


class Supersession:
    """The `supersedes` relations of a store; nothing is computed before the first request."""

    def __init__(self, view: Callable[[], StoreView]) -> None:
        self._view = view
        self._lock = threading.Lock()
        self._targets: dict[str, frozenset[str]] | None = None
        self._known: _Known | None = None

    def follow(self, _sequence: int, change_set: ChangeSet) -> None:
        """Apply a commit, once it is visible."""
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
    """Return what is retired when each key replaces its values; in a cycle, all but the newest.

    Linear in the edges. In reverse finishing order of a depth-first search, the first entry that is
    not visited yet is replaced by nothing except its own cycle.
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
        cycle = _reach([first], above)
        active = max(cycle, key=age)  # type: ignore[arg-type]  # any value with an order
        below = _reach(cycle, edges)
        seen |= below
        retired |= below - {active}
    return frozenset(retired)


def _finished(edges: Edges) -> list[str]:
    """Return all entries in the finishing order of a depth-first search."""
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
    """Return when the next entry that replaces others expires."""
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
