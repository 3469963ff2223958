"""The summary cache `indexes/summaries.json`: summaries by entry and version.

It can be deleted at any time. Summaries of removed entries are dropped.
"""

import logging
import threading
from pathlib import Path

import msgspec

from qms.disk.disk import Disk
from qms.index.checked_json import seal, unseal
from qms.memory.changes import ChangeSet
from qms.store.view import StoreView

log = logging.getLogger(__name__)

MAX_SUMMARIES = 5000
"""Beyond this number the least recently used ones are dropped."""

SUMMARIES_FILE = "summaries.json"
FORMAT = 1
"""Increased when the same text would get another summary."""


class KeptSummary(msgspec.Struct, frozen=True, gc=False):
    """A summary, with the entry's version and the method."""

    version: str
    method: str
    summary: str


class _Content(msgspec.Struct, frozen=True):
    format: int
    summaries: dict[str, KeptSummary]


class SummaryCache:
    """The summaries of one store; any thread may call any method."""

    def __init__(self, path: Path, disk: Disk, *, max_summaries: int = MAX_SUMMARIES) -> None:
        self._path = path
        self._disk = disk
        self._max_summaries = max_summaries
        self._lock = threading.Lock()
        self._kept: dict[str, KeptSummary] | None = None
        self.is_changed = False
        """Whether `save` has something to write."""

    def get(self, view: StoreView, entry_id: str, version: str, method: str) -> str | None:
        """Return the summary of exactly this version by this method, or None."""
        with self._lock:
            kept = self._loaded(view)
            found = kept.get(entry_id)
            if found is None or (found.version, found.method) != (version, method):
                return None
            kept[entry_id] = kept.pop(entry_id)
            return found.summary

    def put(self, view: StoreView, entry_id: str, made: KeptSummary) -> None:
        """Keep a summary until its entry changes."""
        with self._lock:
            kept = self._loaded(view)
            kept.pop(entry_id, None)
            kept[entry_id] = made
            while len(kept) > self._max_summaries:
                del kept[next(iter(kept))]
            self.is_changed = True

    def follow(self, _sequence: int, change_set: ChangeSet) -> None:
        """Drop the summaries of entries that a commit changed."""
        with self._lock:
            for change in change_set.changes:
                if self._kept is not None and self._kept.pop(change.id, None) is not None:
                    self.is_changed = True

    def save(self) -> None:
        """Write the cache if it changed; a failed write is only logged."""
        with self._lock:
            if not self.is_changed or self._kept is None:
                return
            content = msgspec.json.encode(_Content(FORMAT, self._kept))
            self.is_changed = False
        try:
            self._disk.make_folder(self._path.parent)
            self._disk.put(self._path, seal(content))
        except OSError as error:
            log.warning("summaries not saved", extra={"reason": error.strerror})

    def _loaded(self, view: StoreView) -> dict[str, KeptSummary]:
        if self._kept is None:
            found = self._read()
            self._kept = {one: kept for one, kept in found.items() if one in view.records}
            self.is_changed = len(self._kept) < len(found)
        return self._kept

    def _read(self) -> dict[str, KeptSummary]:
        try:
            content = msgspec.json.decode(unseal(self._disk.read(self._path)), type=_Content)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("summary cache discarded", extra={"reason": str(error)})
            return {}
        return content.summaries if content.format == FORMAT else {}
