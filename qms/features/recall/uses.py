"""Counts uses at once, and applies their effects later in one batched change of the system."""

import logging
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from qms.commands.call import Call
from qms.features.recall.use_effects import apply_touches, can_wait, follow_up, raises
from qms.memory.access import SYSTEM_USER, SystemRight
from qms.memory.changes import TOUCH
from qms.memory.entry import split_id
from qms.memory.errors import QmsError
from qms.memory.retention import RetentionLengths
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.view import Record

log = logging.getLogger(__name__)


def touch(call: Call, records: Iterable[Record]) -> None:
    """Count a use of entries in reach; apply its effects now, or defer small ones."""
    by_project: dict[str, list[Record]] = {}
    for record in records:
        by_project.setdefault(split_id(record.header.id)[0], []).append(record)
    for project, used in by_project.items():
        _touch_in(call, call.context.catalog.get(project), used)


def settle(store: MemoryStore, lengths: RetentionLengths, now: datetime) -> None:
    """Apply the effects of deferred uses, in one ChangeSet.

    Raises:
        QmsError: the store cannot be written now; they stay deferred.
    """
    with store.touches.settling:
        waiting = store.touches.waiting()
        if not waiting:
            return
        origin = Origin(command=TOUCH, user=SYSTEM_USER, at_utc=now, right=SystemRight.USE)
        plan = partial(apply_touches, touches=waiting, lengths=lengths)
        store.touches.settle(waiting, store.commit(origin, plan))


def _touch_in(call: Call, store: MemoryStore, used: list[Record]) -> None:
    lengths = call.settings.global_.retention
    counted = store.touches.count([record.header.id for record in used], call.now)
    due = [
        record.header
        for record in used
        if follow_up(record.header, (one := counted[record.header.id]), lengths) or raises(one)
    ]
    store.touches.defer([header.id for header in due], call.now)
    if all(can_wait(header, counted[header.id], lengths) for header in due):
        return
    try:
        settle(store, lengths, call.now)
    except QmsError as error:
        # Read-only: reads go on, and the effects wait until the disk can be written.
        log.debug("touch postponed", extra={"project": store.project, "reason": error.message})
