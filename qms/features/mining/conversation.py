"""Conversations, messages and problems: the types that every export format is read into."""

from datetime import UTC, datetime

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One message; `at` is its time as the export writes it."""

    id: str
    text: str
    is_person: bool
    author: str | None = None
    at: str | float | None = None

    @property
    def at_utc(self) -> datetime | None:
        """Return its time, or None when the export has none that can be read."""
        try:
            if isinstance(self.at, str) and not self.at.replace(".", "", 1).isdecimal():
                moment = datetime.fromisoformat(self.at)
                return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
            return None if self.at is None else datetime.fromtimestamp(float(self.at), UTC)
        except (ValueError, OverflowError, OSError):
            return None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation, or a further part of the previous one, with the same id."""

    id: str
    title: str
    path: str
    messages: list[Message]


class Problem(msgspec.Struct, frozen=True):
    """A part of an export that was left out, and the reason."""

    path: str
    offset: int | None
    reason: str

    def __str__(self) -> str:
        where = self.path if self.offset is None else f"{self.path}, byte {self.offset:,}"
        return f"{where}: {self.reason}"


Found = Conversation | Problem
