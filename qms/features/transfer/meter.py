"""Limits the rows, bytes and seconds of an import while it is read."""

import time
from collections.abc import Iterable, Iterator

import msgspec

from qms.features.transfer.importers.items import Found, Item
from qms.memory.errors import InvalidInputError
from qms.memory.limits import Limits
from qms.memory.lines import encode_line

MAX_ROWS = 1_000_000
"""The limit of an import in batches: ids and relations of all rows are in memory."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of an import; None for no limit."""

    rows: int = MAX_ROWS
    bytes: int | None = None
    """The size of all rows as JSON."""
    seconds: float | None = None

    @classmethod
    def of(cls, limits: Limits) -> "Bounds":
        """Return the bounds of an import that the server reads for a client."""
        return cls(
            rows=limits.import_rows, bytes=limits.import_bytes, seconds=limits.import_seconds
        )


class Meter:
    """Counts one import, and ends it at its bounds."""

    def __init__(self, bounds: Bounds = Bounds()) -> None:  # noqa: B008 - frozen
        self._bounds = bounds
        self._began = time.monotonic()
        self.rows = 0
        self.bytes = 0

    def check_time(self) -> None:
        """Raise `InvalidInputError` when reading has taken too long."""
        most = self._bounds.seconds
        if most is not None and time.monotonic() - self._began > most:
            raise self._beyond(f"takes more than {most:,g} seconds to read", "importSeconds", most)

    def add_row(self) -> None:
        """Count a row, a link or a file that is kept in memory.

        Raises:
            InvalidInputError: there are too many.
        """
        self.rows += 1
        if self.rows > self._bounds.rows:
            most = self._bounds.rows
            raise self._beyond(f"holds more than {most:,} rows and links", "importRows", most)

    def measured(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield items up to the bounds.

        Raises:
            InvalidInputError: a bound is exceeded; the message names the limit.
        """
        for item in items:
            self.add_row()
            self.check_time()
            self._add_bytes(item)
            yield item

    def _add_bytes(self, item: Item) -> None:
        most = self._bounds.bytes
        if most is None:
            return
        self.bytes += len(encode_line(item.document)) if isinstance(item, Found) else 0
        if self.bytes > most:
            raise self._beyond(f"holds more than {most:,} bytes of entries", "importBytes", most)

    def _beyond(self, what: str, limit: str, maximum: float) -> InvalidInputError:
        error = InvalidInputError(
            f"the file {what} (limit {limit})", field="content", limit=limit, maximum=maximum
        )
        is_for_client = self._bounds.seconds is not None
        error.add_note("split the file into several")
        if is_for_client:
            error.add_note("or use memoryctl import, which stores it in batches")
        return error
