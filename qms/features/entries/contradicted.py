"""Entries that a written entry may contradict, by rule."""

from collections.abc import Set
from itertools import islice

from qms.commands.call import Call
from qms.index.claims.claim_index import Clash
from qms.memory.retention import is_expired
from qms.store.view import Record

MAX_NAMED = 5
"""At most this many contradictions are named when an entry is written."""

SUPERSEDES = "supersedes"


def potential_contradictions(call: Call, record: Record) -> tuple[str, ...]:
    """Return the entries of the project that an entry just written may contradict."""
    claims = call.context.indexer.claims(call.project)
    if claims is None:
        return ()
    claims.read()
    retired = call.store.superseded(call.now)
    if record.header.id in retired:
        return ()
    clashes = (one for one in claims.against(record) if is_open(call, record, one, retired))
    return tuple(one.entry_id for one in islice(clashes, MAX_NAMED))


def is_open(call: Call, record: Record, clash: Clash, retired: Set[str]) -> bool:
    """Say whether a contradiction of two current entries is not resolved yet."""
    if clash.entry_id in retired:
        return False
    other = call.store.view.get(clash.entry_id)
    is_gone = other is None or is_expired(other.header, call.now)
    return not is_gone and other is not None and not _is_settled(record, other)


def _is_settled(one: Record, other: Record) -> bool:
    return any(
        relation.type == SUPERSEDES and relation.target_id == target.header.id
        for source, target in ((one, other), (other, one))
        for relation in source.header.relations
    )
