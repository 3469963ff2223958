"""Use: counted at once, and what follows from it as one batched change of nobody's."""

import logging
from collections.abc import Iterable
from datetime import datetime
from functools import partial

from qms.domain.access import SYSTEM_USER
from qms.domain.changes import TOUCH
from qms.domain.entry import split_id
from qms.domain.errors import QmsError
from qms.domain.lifecycle import RetentionLengths
from qms.service.calls import Call
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin
from qms.store.view import Record
from qms.upkeep.touch import apply_touches, can_wait, follow_up, raises

log = logging.getLogger(__name__)


def touch(call: Call, records: Iterable[Record]) -> None:
    """Count a use of entries in reach; what follows from it is settled, or waits for more."""
    by_project: dict[str, list[Record]] = {}
    for record in records:
        by_project.setdefault(split_id(record.header.id)[0], []).append(record)
    for project, used in by_project.items():
        _touch_in(call, call.house.catalog.get(project), used)


def settle(store: MemoryStore, lengths: RetentionLengths, now: datetime) -> None:
    """Change what follows from uses that wait, in one ChangeSet.

    Raises:
        QmsError: the store takes no writes now; they go on waiting.
    """
    with store.touches.settling:
        waiting = store.touches.waiting()
        if not waiting:
            return
        origin = Origin(command=TOUCH, user=SYSTEM_USER, at_utc=now)
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
        # Read-only: reading goes on, and what follows from it waits for a disk that takes it.
        log.debug("touch postponed", extra={"project": store.project, "reason": error.message})
