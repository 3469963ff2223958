"""Older buffers: finds the state of the file that an editor had read before it saved.

A person opens the file, a fold changes it, the person saves. The save lacks what the fold added,
and has the older version of what the fold changed. `S` is an earlier state of the file, `N` the
present one. A save comes from `S` when all of this holds:

- it has no line that a step after `S` wrote, and no entry that a step after `S` added;
- at least one entry that changed since is as in `S`, and a fold changed something since;
- something else is different: an entry that is neither as in `S` nor as in `N`, an unreadable line,
  another order;
- the steps since `S` are younger than `MAX_AGE`.

Of several such states it is the one with the fewest different entries, and the newest of these.
Entries that are as in `S` then keep the server's version. A save without such a state comes from
`N`: if the only difference is that lines of folds are missing or older, it counts as a hand edit.
"""

import functools
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta

import msgspec

from qms.memory.hand_lines import bare
from qms.store.file_image import FileReading, Image
from qms.store.fold_log import Step, mark_of

MAX_AGE = timedelta(hours=24)
"""How long after a fold a save may come from the file before it."""

_UNREADABLE = "unreadable"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """How to merge the entries that the author of a save may not have seen."""

    stays: frozenset[str] = frozenset()
    """Entries that keep the server's version: the save has them as the older file did."""
    unseen: frozenset[str] = frozenset()
    """Entries whose version becomes a conflict copy if the save overwrites it."""


class Save(msgspec.Struct, frozen=True, kw_only=True):
    """A saved file and the base of its merge."""

    reading: FileReading
    image: Image
    """The file as last read."""
    base: Mapping[str, bytes]
    missing: Set[str]
    spoiled: Set[str]
    """Missing entries whose lines are unreadable."""
    same: Set[str] = frozenset()
    """Entries whose lines equal the base, in other bytes."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The steps that led to the present file."""

    steps: Sequence[Step]
    is_whole: bool
    """Whether the steps start at the store's creation; otherwise a save may be older."""


def judge(save: Save, history: History, *, now: datetime, unseen_s: float) -> Verdict:
    """Return which of the entries that differ in a save its author had not seen.

    A fold in the last `unseen_s` seconds before the save counts as unseen, unless the save contains
    something of it.
    """
    walk = _Walk(save, _saved_at(save, now) - timedelta(seconds=unseen_s))
    if not walk.different:
        return Verdict()
    found = _find_source(walk, save, history, now)
    unseen = walk.lately_unseen | (walk.ever_reverted & save.reading.fresh.keys())
    if found.may_be_older:
        unseen |= walk.different
    return Verdict(stays=found.reverted, unseen=frozenset(unseen | found.changed))


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    """The state that a save came from: its distance, and what changed since."""

    distance: int = 0
    reverted: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    may_be_older: bool = False
    """Whether the history is incomplete and the save contains nothing of it."""


_PRESENT = _Source()


def _find_source(walk: "_Walk", save: Save, history: History, now: datetime) -> _Source:
    best: _Source | None = None
    if not save.reading.image.taken_ids():
        return _PRESENT  # a file that lost all entries is held in any case
    is_rearranged = functools.cache(lambda: _is_rearranged(save, walk.touched))
    is_whole = history.is_whole
    for step in reversed(history.steps):
        walk.go_back(step)
        if step.is_partial:
            is_whole = False
            break
        if step.source == save.reading.image.digest:
            return _PRESENT  # a person restored the whole earlier file
        if not walk.fits or step.at_utc <= now - MAX_AGE:
            continue
        if not walk.others and not is_rearranged():
            return _PRESENT
        if best is None or walk.distance < best.distance:
            best = walk.source()
    return msgspec.structs.replace(best or _PRESENT, may_be_older=not is_whole and not walk.seen)


class _Walk:
    """Compares a save with each state of the file, from the present backwards."""

    def __init__(self, save: Save, since: datetime) -> None:
        self._save = save
        self._since = since
        self._lines = save.reading.image.lines_by_id()
        self._written: list[str] = []
        self._unseen = 0
        self._forms: dict[str, str | None] = {}
        self._later: dict[str, set[str | None]] = {}
        self._folded: set[str] = set()
        self._last_folded: set[str] = set()
        ids = save.reading.fresh.keys() | save.missing
        self.different = {one for one in ids if self._saved(one) != self._now(one)}
        named = {problem.entry_id for problem in save.reading.image.problems}
        self._nameless = (self.different & save.spoiled) - named
        self._added: set[str] = set()
        """Entries that no unreadable line can belong to: the state did not have them."""
        self.others = set(self.different)
        """Entries that are neither as in the state nor as they are now."""
        self.reverted: set[str] = set()
        """Entries that are as in the state, and not as they are now."""
        self.ever_reverted: set[str] = set()
        """Entries last written by a fold that are as in some earlier state."""
        self.seen: set[str] = set()
        """Entries whose line or id was written after the state."""

    @property
    def fits(self) -> bool:
        """Say whether the save can come from the state, if it has a difference of its own."""
        is_folded = not self._folded.isdisjoint(self.reverted | self.others)
        return bool(self.reverted) and is_folded and not self.seen

    @property
    def lately_unseen(self) -> set[str]:
        """Return what recent folds wrote after the oldest state that the save can come from."""
        return set(self._written[: self._unseen])

    @property
    def distance(self) -> int:
        """Return how many entries the save would have changed in the state."""
        return len(self.others - self._added)

    @property
    def touched(self) -> set[str]:
        """Return the entries that the steps so far or the save changed."""
        return self.different | self._forms.keys()

    def go_back(self, step: Step) -> None:
        """Compare with the state before a step."""
        for entry_id, before in step.before.items():
            self._compare(entry_id, before, is_by_hand=step.is_by_hand(entry_id))
        if step.at_utc >= self._since and not self.seen:
            self._unseen = len(self._written)

    def _compare(self, entry_id: str, before: str | None, *, is_by_hand: bool) -> None:
        after, now, saved = self._form(entry_id), self._now(entry_id), self._saved(entry_id)
        is_newest = entry_id not in self._forms
        self._forms[entry_id] = before
        if not is_by_hand:
            self._written.append(entry_id)
        if entry_id in self._save.spoiled:
            _set_in(self._added, entry_id, is_in=before is None and entry_id in self._nameless)
            return
        if not is_by_hand and is_newest:
            self._last_folded.add(entry_id)
        if not is_by_hand and before != after:
            self._folded.add(entry_id)
        later = self._later.setdefault(entry_id, set())
        later.add(after)
        is_reverted = saved == before and before != now
        is_seen = saved is not None and saved != before and (before is None or saved in later)
        _set_in(self.others, entry_id, is_in=saved not in (before, now))
        _set_in(self.reverted, entry_id, is_in=is_reverted)
        _set_in(self.seen, entry_id, is_in=is_seen)
        if is_reverted and entry_id in self._last_folded:
            self.ever_reverted.add(entry_id)

    def source(self) -> _Source:
        """Return the state as one that the save came from."""
        changed = (one for one, form in self._forms.items() if form != self._now(one))
        return _Source(
            distance=self.distance,
            reverted=frozenset(self.reverted | self._added),
            changed=frozenset(changed),
        )

    def _form(self, entry_id: str) -> str | None:
        if entry_id in self._forms:
            return self._forms[entry_id]
        return self._now(entry_id)

    def _now(self, entry_id: str) -> str | None:
        return mark_of(self._save.base.get(entry_id))

    def _saved(self, entry_id: str) -> str | None:
        if entry_id in self._save.spoiled:
            return self._now(entry_id) if entry_id in self._save.image.kept else _UNREADABLE
        if entry_id in self._save.same:
            return self._now(entry_id)
        return mark_of(self._lines.get(entry_id))


def _set_in(ids: set[str], entry_id: str, *, is_in: bool) -> None:
    if is_in:
        ids.add(entry_id)
    else:
        ids.discard(entry_id)


def _is_rearranged(save: Save, touched: Set[str]) -> bool:
    """Say whether lines that no step touched are in another order or became non-entries."""
    return _rest(save.image, touched) != _rest(save.reading.image, touched)


def _rest(image: Image, touched: Set[str]) -> list[str | bytes]:
    lines = zip(image.ids, image.raws, strict=True)
    rest = (entry_id or bare(raw) for entry_id, raw in lines if entry_id not in touched)
    return [one for one in rest if one]


def _saved_at(save: Save, now: datetime) -> datetime:
    identity = save.reading.image.identity
    if identity is None:
        return now
    return min(now, datetime.fromtimestamp(identity.mtime_ns / 1e9, UTC))
