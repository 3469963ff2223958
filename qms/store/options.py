"""The options of a store, and the types of its reports: status, problems, outcomes."""

from datetime import datetime
from enum import StrEnum

import msgspec

from qms.memory.access import Right
from qms.memory.limits import Limits
from qms.store.feature_files import Declared


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The caller of a change: command, user, time, and right."""

    command: str
    user: str
    at_utc: datetime
    right: Right
    """Every put and removal of the plan is checked against it."""
    agent_id: str | None = None
    key_id: str | None = None


class StoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a store behaves; every time in seconds."""

    limits: Limits = Limits()
    fold_after_s: float = 0.5
    fold_share: float = 0.03
    """The share of time that folds may take: after a longer fold the next one waits longer."""
    fold_latest_s: float = 50.0
    small_file_bytes: int = 10_000_000
    small_fold_latest_s: float = 1.5
    retry_s: float = 1.0
    """How often a read-only store checks whether it can write again."""
    keep_previous_s: float = 60.0
    """How long a replaced file is watched for late writes of an editor."""
    settle_s: float = 0.3
    """How long a file that lacks entries has to stay unchanged before they count as removed."""
    settle_torn_s: float = 3.0
    """The same for a file that ends inside a line: it is most likely still being written."""
    feature_files: Declared = ()
    """The feature files of the store."""


class FoldOutcome(StrEnum):
    """The result of a fold."""

    FOLDED = "folded"
    NOTHING = "nothing"
    FILE_CHANGED = "fileChanged"
    HELD = "held"
    POSTPONED = "postponed"


class ReloadReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of a reload; if not settled, the file has to be read again."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    conflicts: int = 0
    problems: int = 0
    held: bool = False
    settled: bool = True


class Problem(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that an operator should look at; lines count from 1."""

    code: str
    project: str
    reason: str
    file: str | None = None
    line: int | None = None


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a check of a store's files: problems, and notes that are no fault."""

    problems: list[Problem]
    notes: list[Problem]


class IndexState(StrEnum):
    """The state of a store's indexes; searches work in all states but the first."""

    MAKING = "making"
    READY = "ready"
    REBUILDING = "rebuilding"


class IndexStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The progress of a store's indexes."""

    state: IndexState
    done: int
    """How many of `total` entries are in the keyword index that was last built."""
    total: int
    rebuilds: int
    """The number of the last requested rebuild that is done."""
    in_memory: bool
    """Whether the keyword index is in RAM only, since the disk does not accept it."""


class VectorStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many entries have vectors of their current text."""

    done: int
    total: int
    seconds_left: int | None
    """The estimated time for the others; None while it is not known."""

    @property
    def missing(self) -> int:
        """How many entries wait for their vectors."""
        return self.total - self.done


class StoreStatus(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The status of a store."""

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
    vectors: VectorStatus | None = None
    """How many entries have vectors; None until the indexes are built."""
    indexes: IndexStatus | None = None
