"""Context: what all calls share, for as long as the process runs."""

import secrets
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from weakref import WeakKeyDictionary

from qms.auth.keyring import Keyring
from qms.commands.command import Command
from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from qms.index.indexer import Indexer
from qms.store.catalog import Catalog
from qms.store.memory_store import MemoryStore
from qms.store.sort_orders import SortOrders
from qms.telemetry.audit_log import AuditLog
from qms.telemetry.logs import LOG_PLACE
from qms.telemetry.series import Series

T = TypeVar("T")


class Context:
    """What all calls share: the configuration, the stores, the command table, the clock.

    `parts` are the long-lived objects of features, each found by its type.
    """

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        indexer: Indexer,
        *,
        audit: AuditLog,
        series: Series,
        clock: Callable[[], datetime],
        commands: tuple[Command, ...],
        keyring: Keyring | None = None,
        parts: Iterable[object] = (),
        randomness: Callable[[int], bytes] = secrets.token_bytes,
    ) -> None:
        self.configuration = configuration
        self.catalog = catalog
        self.indexer = indexer
        self.audit = audit
        self.series = series
        self.clock = clock
        self.randomness = randomness
        self.cursor_secret = randomness(32)
        self.commands = commands
        self._rows = {row.name: row for row in commands}
        self.keyring = keyring or Keyring(clock=clock)
        self._parts = {type(part): part for part in parts}
        self._orderings: WeakKeyDictionary[MemoryStore, SortOrders] = WeakKeyDictionary()
        self._orderings_lock = threading.Lock()

    def row(self, name: str, *, in_project: bool) -> Command | None:
        """Return the command of this name, if it is one of projects, or of the server."""
        row = self._rows.get(name)
        return row if row is not None and row.is_for(in_project=in_project) else None

    def knows(self, name: str) -> bool:
        """Say whether the table has a command of this name, whether or not a caller may use it."""
        return name in self._rows

    def part(self, kind: type[T]) -> T:
        """Return the long-lived object of a feature."""
        found = self._parts[kind]
        assert isinstance(found, kind)
        return found

    @property
    def disk(self) -> Disk:
        """Return the disk of the root."""
        return self.configuration.disk

    @property
    def log_path(self) -> Path:
        """Return the path of the server's log."""
        return self.configuration.root / LOG_PLACE

    def sort_orders(self, store: MemoryStore) -> SortOrders:
        """Return the sorted orders of a store."""
        with self._orderings_lock:
            if store not in self._orderings:
                self._orderings[store] = SortOrders(store)
            return self._orderings[store]
