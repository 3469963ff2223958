"""What every format is read into: conversations, their messages, and what could not be read."""

from datetime import UTC, datetime

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that was said; `at` is a moment as the export writes it."""

    id: str
    text: str
    is_person: bool
    author: str | None = None
    at: str | float | None = None

    @property
    def at_utc(self) -> datetime | None:
        """Return when it was said, or None when the export does not say so understandably."""
        try:
            if isinstance(self.at, str) and not self.at.replace(".", "", 1).isdecimal():
                moment = datetime.fromisoformat(self.at)
                return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
            return None if self.at is None else datetime.fromtimestamp(float(self.at), UTC)
        except (ValueError, OverflowError, OSError):
            return None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation, or the next messages of one: then the one before had the same id."""

    id: str
    title: str
    path: str
    messages: list[Message]


class Problem(msgspec.Struct, frozen=True):
    """What of an export was left out, and why."""

    path: str
    offset: int | None
    reason: str

    def __str__(self) -> str:
        where = self.path if self.offset is None else f"{self.path}, byte {self.offset:,}"
        return f"{where}: {self.reason}"


Found = Conversation | Problem
