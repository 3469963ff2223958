"""Columns: the filterable fields of entries as numpy arrays, one row (slot) per entry.

One writer changes rows in place. `allowed` and the other readers hold the lock for a fraction of a
millisecond, in which they compute a new array that never changes afterwards. An entry keeps its
slot (see `slots`), so that such an array stays valid for its ids.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from qms.index.arrays import BoolArray, IntArray, grown, room_for
from qms.index.columns.column_file import SavedColumns
from qms.index.columns.conversations import NONE, Conversations, numbered
from qms.index.columns.metadata_values import fact_token, fact_tokens
from qms.index.columns.postings import Postings
from qms.index.columns.traits import Traits, microseconds
from qms.index.entry_keys import KeyTable
from qms.index.indexed_entry import Facets
from qms.index.slots import Slots
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Header, Retention
from qms.memory.filters import Filter

_NEVER = np.iinfo(np.int64).max
_UNKNOWN = -2
"""The code of a name that no entry ever had; no column contains it."""
_LEAST_DEAD = 4096
_MANY = 32

_TRAITS = ("created", "updated", "priority", "confidence", "tier", "retention", "pinned")

_KINDS = {kind: code for code, kind in enumerate(Kind)}
_TIERS = {tier: code for code, tier in enumerate(CurationTier)}
_RETENTIONS = {retention: code for code, retention in enumerate(Retention)}

_COLUMNS: dict[str, type[np.generic]] = {
    "live": np.bool_,
    "pinned": np.bool_,
    "kind": np.uint8,
    "tier": np.uint8,
    "retention": np.uint8,
    "priority": np.int16,
    "confidence": np.float64,
    "created": np.int64,
    "updated": np.int64,
    "expires": np.int64,
    "namespace": np.int32,
    "epic_slug": np.int32,
    "epic_case": np.int32,
    "agent": np.int32,
    "source_type": np.int32,
    "conversation": np.int32,
    "role": np.int32,
}


class Columns:
    """The filterable fields of one store's entries, and their conversations."""

    def __init__(self) -> None:
        self.slots = Slots()
        self.keys = KeyTable(self.slots)
        self._codes: dict[str, int] = {}
        self._names: list[str] = []
        self._columns: dict[str, npt.NDArray[Any]] = {
            name: np.zeros(0, dtype) for name, dtype in _COLUMNS.items()
        }
        self._count = 0
        self._live = 0
        self._soonest = _NEVER
        """No entry expires before this time."""
        self._tags = Postings(np.int32)
        self._metadata = Postings()
        self._conversations = Conversations()
        self._lock = threading.RLock()

    @classmethod
    def of(cls, entries: Iterable[Facets]) -> "Columns":
        """Return the columns of many entries at once, as after a load; ids are distinct."""
        result = cls()
        given = list(entries)
        result._number(Slots(facets.header.id for facets in given))
        result._count = result._live = len(given)
        result._columns = result._whole_columns(given)
        result._soonest = int(result._columns["expires"].min(initial=_NEVER))
        result._tags.fill(result._many_tag_tokens(given))
        result._metadata.fill([fact_tokens(facets.metadata) for facets in given])
        ordinals, has_ordinal = numbered([facets.ordinal for facets in given])
        result._conversations.fill(
            result._columns["conversation"], ordinals, has_ordinal, result._columns["created"]
        )
        return result

    @classmethod
    def restored(cls, saved: SavedColumns, headers: Sequence[Header]) -> "Columns":
        """Return saved columns of entries with these headers, in the same order.

        The update time is read from the headers: only they have the time of a hand edit.
        """
        result = cls()
        result._number(Slots(header.id for header in headers))
        result._count = result._live = len(headers)
        result._names = saved.names
        result._codes = {name: code for code, name in enumerate(saved.names)}
        result._columns = saved.columns
        updated = [microseconds(header.timestamps.updated_utc) for header in headers]
        result._columns["updated"] = np.array(updated, np.int64)
        result._soonest = int(saved.columns["expires"].min(initial=_NEVER))
        result._tags.adopt(saved.tags, len(headers))
        result._metadata.adopt(saved.metadata, len(headers))
        result._conversations.fill(
            saved.columns["conversation"],
            saved.ordinals,
            saved.has_ordinal,
            saved.columns["created"],
        )
        return result

    def saved(self) -> SavedColumns:
        """Return the input of `restored`; only for columns without free slots."""
        assert self._live == self._count
        ordinals, has_ordinal = self._conversations.ordinals(self._count)
        return SavedColumns(
            names=self._names,
            columns={name: self._column(name) for name in _COLUMNS},
            tags=self._tags.saved(),
            metadata=self._metadata.saved(),
            ordinals=ordinals,
            has_ordinal=has_ordinal,
        )

    def __len__(self) -> int:
        return self._live

    def put(self, facets: Facets) -> int:
        """Add or replace an entry and return its slot."""
        with self._lock:
            slot = self.slots.claim(facets.header.id)
            self._make_room(slot + 1)
            self._live += not self._columns["live"][slot]
            for column, value in zip(self._columns.values(), self._row(facets), strict=True):
                column[slot] = value
            self._soonest = min(self._soonest, int(self._columns["expires"][slot]))
            self._tags.put(slot, self._tag_tokens(facets))
            self._metadata.put(slot, fact_tokens(facets.metadata))
            self._conversations.put(
                slot,
                self._code(facets.conversation_id),
                ordinal=facets.ordinal,
                created=int(self._columns["created"][slot]),
            )
            return slot

    def remove(self, entry_id: str) -> None:
        """Remove an entry, if it is there."""
        with self._lock:
            slot = self.slots.find(entry_id)
            if slot is None or slot >= self._count or not self._columns["live"][slot]:
                return
            self._columns["live"][slot] = False
            self._live -= 1
            self._tags.remove(slot)
            self._metadata.remove(slot)
            self._conversations.remove(slot)

    def apply(self, put: Iterable[Facets], removed: Iterable[str] = ()) -> None:
        """Apply several changes atomically for readers."""
        with self._lock:
            for entry_id in removed:
                self.remove(entry_id)
            given = list(put)
            if len(given) >= _MANY:
                self._put_many(given)
            else:
                for facets in given:
                    self.put(facets)

    def _put_many(self, given: Sequence[Facets]) -> None:
        """Put entries with distinct ids, one column at a time."""
        slots = np.array([self.slots.claim(facets.id) for facets in given], np.int64)
        self._make_room(int(slots.max()) + 1)
        self._live += len(slots) - int(np.count_nonzero(self._columns["live"][slots]))
        for name, values in self._whole_columns(given).items():
            self._columns[name][slots] = values
        self._soonest = min(self._soonest, int(self._columns["expires"][slots].min()))
        created = self._columns["created"][slots].tolist()
        for slot, facets, made in zip(slots.tolist(), given, created, strict=True):
            self._tags.put(slot, self._tag_tokens(facets))
            self._metadata.put(slot, fact_tokens(facets.metadata))
            code = self._code(facets.conversation_id)
            self._conversations.put(slot, code, ordinal=facets.ordinal, created=made)

    def allowed(self, wanted: Filter | None, *, now: datetime) -> BoolArray:
        """Return, by slot, which entries exist, have not expired, and match."""
        with self._lock:
            mask: BoolArray = self._column("live").copy()
            if microseconds(now) >= self._soonest:
                mask &= self._column("expires") > microseconds(now)
            if wanted is not None:
                for condition in self._conditions(wanted):
                    mask &= condition
                    if not mask.any():
                        break  # further conditions cannot change an empty mask
            return mask

    def expired(self, now: datetime) -> IntArray:
        """Return the slots of entries that have expired and still exist."""
        with self._lock:
            if microseconds(now) < self._soonest:
                return np.zeros(0, np.int64)
            return np.flatnonzero(
                self._column("live") & (self._column("expires") <= microseconds(now))
            )

    def turns(self, conversation_id: str) -> IntArray:
        """Return the slots of a conversation's turns, in order."""
        with self._lock:
            return self._conversations.turns(self._codes.get(conversation_id, _UNKNOWN))

    def neighbours(self, slots: IntArray) -> tuple[IntArray, IntArray]:
        """Return the slots of the previous and of the next turn, -1 where there is none."""
        with self._lock:
            return self._conversations.neighbours(slots)

    def conversations(self, slots: IntArray) -> IntArray:
        """Return a number for the conversation of each slot, -1 where there is none."""
        with self._lock:
            return self._conversations.numbers(slots)

    def roles(self, slots: IntArray) -> list[str | None]:
        """Return the role of each slot, None where there is none."""
        with self._lock:
            inside = slots < self._count
            codes = np.where(
                inside, self._columns["role"][np.where(inside, slots, 0)], NONE
            ).tolist()
            names = {code: self._names[code] for code in set(codes) if code != NONE}
        return [names.get(code) for code in codes]

    def are_kind(self, slots: IntArray, kind: Kind) -> BoolArray:
        """Say for each slot whether its entry is of a kind."""
        with self._lock:
            found: BoolArray = self._columns["kind"][slots] == _KINDS[kind]
            return found

    def fill_traits(self, traits: Traits, rows: IntArray, slots: IntArray) -> None:
        """Copy the traits of slots into these rows; usage is filled elsewhere."""
        with self._lock:
            columns = self._columns
            for name in _TRAITS:
                getattr(traits, name)[rows] = columns[name][slots]

    def latest(self, allowed: BoolArray, limit: int) -> IntArray:
        """Return the allowed slots that changed last, the latest first."""
        with self._lock:
            slots = np.flatnonzero(allowed)
            updated = self._columns["updated"][slots]
        return slots[np.lexsort((-slots, -updated))[:limit]]

    @property
    def is_sparse(self) -> bool:
        """Say whether most slots belong to removed entries, so that `compacted` pays."""
        return self._count - self._live > max(self._live, _LEAST_DEAD)

    def compacted(self) -> "Columns":
        """Return new columns with new slots for the existing entries, in the same order.

        Masks and slots of the old columns are invalid for the new ones: the caller swaps everything
        that shares the slots (`VectorIndex.compacted`) in the same step.
        """
        with self._lock:
            return self._arranged(np.flatnonzero(self._column("live")))

    def arranged(self, ids: Sequence[str]) -> "Columns | None":
        """Return new columns with the entries in this order; None if the ids are not the same."""
        with self._lock:
            slots = [self.slots.find(entry_id) for entry_id in ids]
            if None in slots or len(slots) != self._live:
                return None
            kept = np.array(slots, np.int64)
            are_there = kept.max(initial=-1) < self._count and self._column("live")[kept].all()
            return self._arranged(kept) if are_there else None

    def _arranged(self, kept: IntArray) -> "Columns":
        result = Columns()
        with self._lock:
            result._number(Slots(self.slots.ids_of(kept.tolist())))
            result._codes = dict(self._codes)
            result._names = list(self._names)
            result._columns = {name: column[kept] for name, column in self._columns.items()}
            result._count = result._live = len(kept)
            result._soonest = self._soonest
            result._tags = self._tags.renumbered(kept)
            result._metadata = self._metadata.renumbered(kept)
            result._conversations = self._conversations.renumbered(kept)
        return result

    def _number(self, slots: Slots) -> None:
        self.slots, self.keys = slots, KeyTable(slots)

    def _whole_columns(self, given: Sequence[Facets]) -> dict[str, npt.NDArray[Any]]:
        """Return the rows of many entries, one column at a time: a third of the time of `_row`."""
        headers = [facets.header for facets in given]
        values: dict[str, Sequence[Any]] = {
            "live": np.ones(len(given), np.bool_),  # type: ignore[dict-item]  # the same to numpy
            "pinned": [header.pinned for header in headers],
            "kind": [_KINDS[header.kind] for header in headers],
            "tier": [_TIERS[header.curation_tier] for header in headers],
            "retention": [_RETENTIONS[header.retention] for header in headers],
            "priority": [header.priority for header in headers],
            "confidence": [header.confidence for header in headers],
            "created": [microseconds(header.timestamps.created_utc) for header in headers],
            "updated": [microseconds(header.timestamps.updated_utc) for header in headers],
            "expires": [_end(header) for header in headers],
            "namespace": self._many_codes([header.namespace for header in headers]),
            "epic_slug": self._many_codes([header.epic_slug for header in headers]),
            "epic_case": self._many_codes([header.epic_case for header in headers]),
            "agent": self._many_codes([header.agent_id for header in headers]),
            "source_type": self._many_codes([facets.source_type for facets in given]),
            "conversation": self._many_codes([facets.conversation_id for facets in given]),
            "role": self._many_codes([facets.role for facets in given]),
        }
        return {name: np.array(values[name], dtype) for name, dtype in _COLUMNS.items()}

    def _many_tag_tokens(self, given: Sequence[Facets]) -> list[list[int]]:
        tags = [facets.header.tags for facets in given]
        codes = {tag: self._code(tag) for tag in dict.fromkeys(chain.from_iterable(tags))}
        return [[codes[tag] for tag in found] for found in tags]

    def _many_codes(self, names: Sequence[str | None]) -> list[int]:
        codes = {name: self._code(name) for name in dict.fromkeys(names)}
        return [codes[name] for name in names]

    def _row(self, facets: Facets) -> tuple[Any, ...]:
        """Return a value for each of the columns, in their order."""
        header = facets.header
        return (
            True,
            header.pinned,
            _KINDS[header.kind],
            _TIERS[header.curation_tier],
            _RETENTIONS[header.retention],
            header.priority,
            header.confidence,
            microseconds(header.timestamps.created_utc),
            microseconds(header.timestamps.updated_utc),
            _end(header),
            self._code(header.namespace),
            self._code(header.epic_slug),
            self._code(header.epic_case),
            self._code(header.agent_id),
            self._code(facets.source_type),
            self._code(facets.conversation_id),
            self._code(facets.role),
        )

    def _tag_tokens(self, facets: Facets) -> list[int]:
        return [self._code(tag) for tag in facets.header.tags]

    def _conditions(self, wanted: Filter) -> Iterator[BoolArray]:
        yield from self._what(wanted)
        yield from self._where(wanted)
        yield from self._weight(wanted)
        yield from self._when(wanted)

    def _what(self, wanted: Filter) -> Iterator[BoolArray]:
        if wanted.kinds:
            yield self._is_one_of("kind", [_KINDS[kind] for kind in wanted.kinds])
        if wanted.kind:
            yield self._column("kind") == _KINDS[wanted.kind]
        for tag in wanted.tags:
            yield self._carries(self._tags, [self._known(tag)])
        if wanted.tag is not None:
            yield self._carries(self._tags, [self._known(wanted.tag)])
        if wanted.any_tags:
            known = (self._codes.get(tag) for tag in wanted.any_tags)
            yield self._carries(self._tags, [code for code in known if code is not None])
        for fact in (wanted.metadata or {}).items():
            yield self._carries(self._metadata, [fact_token(*fact)])

    def _where(self, wanted: Filter) -> Iterator[BoolArray]:
        names = {
            "namespace": wanted.namespace,
            "epic_slug": wanted.epic_slug,
            "epic_case": wanted.epic_case,
            "agent": wanted.agent_id,
            "source_type": wanted.source_type,
            "conversation": wanted.conversation_id,
        }
        for column, name in names.items():
            if name is not None:
                yield self._column(column) == self._known(name)

    def _weight(self, wanted: Filter) -> Iterator[BoolArray]:
        if wanted.tiers:
            yield self._is_one_of("tier", [_TIERS[tier] for tier in wanted.tiers])
        if wanted.tier is not None:
            yield self._column("tier") == _TIERS[wanted.tier]
        if wanted.retention is not None:
            yield self._column("retention") == _RETENTIONS[wanted.retention]
        if wanted.min_priority is not None:
            yield self._column("priority") >= wanted.min_priority
        if wanted.min_confidence is not None:
            yield self._column("confidence") >= wanted.min_confidence
        if wanted.pinned is not None:
            yield self._column("pinned") == wanted.pinned

    def _when(self, wanted: Filter) -> Iterator[BoolArray]:
        if wanted.created_after is not None:
            yield self._column("created") >= microseconds(wanted.created_after)
        if wanted.created_before is not None:
            yield self._column("created") < microseconds(wanted.created_before)
        if wanted.updated_after is not None:
            yield self._column("updated") >= microseconds(wanted.updated_after)
        if wanted.updated_before is not None:
            yield self._column("updated") < microseconds(wanted.updated_before)

    def _column(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name][: self._count]

    def _is_one_of(self, name: str, codes: Sequence[int]) -> BoolArray:
        column = self._column(name)
        mask: BoolArray = column == codes[0]
        for code in codes[1:]:
            mask |= column == code
        return mask

    def _carries(self, postings: Postings, tokens: Sequence[int]) -> BoolArray:
        mask = np.zeros(self._count, np.bool_)
        if tokens:
            mask[postings.carrying(tokens)] = True
        return mask

    def _code(self, name: str | None) -> int:
        if name is None:
            return NONE
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def _known(self, name: str) -> int:
        return self._codes.get(name, _UNKNOWN)

    def _make_room(self, count: int) -> None:
        if count <= self._count:
            return
        capacity = room_for(count, len(self._columns["live"]))
        if capacity > len(self._columns["live"]):
            self._columns = {name: grown(array, capacity) for name, array in self._columns.items()}
        self._count = count


def _end(header: Header) -> int:
    """Return when an entry expires."""
    if header.ttl_utc is None or header.is_permanent:
        return _NEVER
    return microseconds(header.ttl_utc)
