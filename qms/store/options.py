"""What a store is told, and what it tells of itself."""

from datetime import datetime
from enum import StrEnum

import msgspec

from qms.domain.limits import Limits


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for a change, with which command, and when."""

    command: str
    user: str
    at_utc: datetime
    agent_id: str | None = None
    key_id: str | None = None


class StoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a store behaves; every time in seconds."""

    limits: Limits = Limits()
    fold_after_s: float = 0.5
    fold_share: float = 0.03
    """How much of the time folds may take: a longer fold waits longer for the next."""
    fold_latest_s: float = 50.0
    small_file_bytes: int = 10_000_000
    small_fold_latest_s: float = 1.5
    retry_s: float = 1.0
    """How often a store that does not take writes looks whether it can again."""
    keep_previous_s: float = 60.0
    """How long the file before a fold is watched for an editor that still writes into it."""
    settle_s: float = 0.3
    """How long a file that lacks entries has to stay as it is before they count as taken out."""
    settle_torn_s: float = 3.0
    """The same for a file that ends amid a line: somebody is most likely still writing it."""


class FoldOutcome(StrEnum):
    """What came of a fold."""

    FOLDED = "folded"
    NOTHING = "nothing"
    FILE_CHANGED = "fileChanged"
    HELD = "held"
    POSTPONED = "postponed"


class ReloadReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What looking at the file brought; not settled means that it has to be looked at again."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    conflicts: int = 0
    problems: int = 0
    held: bool = False
    settled: bool = True


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something a person should look at; lines count from 1."""

    code: str
    project: str
    reason: str
    file: str | None = None
    line: int | None = None


class IndexState(StrEnum):
    """What the indexes of a store are doing; they serve in all states but the first."""

    MAKING = "making"
    READY = "ready"
    REBUILDING = "rebuilding"


class IndexStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How far the indexes of a store are."""

    state: IndexState
    done: int
    """Of `total` entries, how many words were last made of."""
    total: int
    rebuilds: int
    """The number of the last rebuild that was asked for and is done."""
    in_memory: bool
    """Whether words are in RAM only, since the disk does not take them."""


class StoreStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a store reports of itself."""

    name: str
    entries: int
    bytes: int
    loaded: bool
    problems: int
    conflicts: int
    held: bool
    read_only: bool
    read_only_reason: str | None
    pending_journal: int
    sequence: int
    last_write_utc: datetime | None
    last_fold_utc: datetime | None
    embedding_backlog: int = 0
    """How many entries wait for their vectors."""
    indexes: IndexStatus | None = None
