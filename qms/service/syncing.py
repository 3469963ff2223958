"""The four commands of a sync: what a side has, its entries and traces, changes, what is common."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import check, encode_checked, normalise, version_of
from qms.config.settings import SecretsPolicy
from qms.domain.entry import Document
from qms.domain.errors import ConflictError, QmsError, StorageFullError, invalid
from qms.domain.lifecycle import is_expired
from qms.files.peers import PeerBase
from qms.ingest.sync_rule import Standing, StepKind, Trace
from qms.ingest.withhold import withhold
from qms.service.answers import whole_entry
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.service.writing import Writing, check_quota, living, writing_for
from qms.store.draft import Draft

PAGE = 5000
"""How many entries one answer of `syncState` names, and one `syncRead` asks for."""

MAX_CHANGES = 500
"""How many entries one `syncApply` takes: one ChangeSet."""

SUPERSEDED = "superseded"

Ids = Annotated[list[str], msgspec.Meta(max_length=PAGE)]


class SyncStateRequest(Request, frozen=True):
    """Which page: what follows an id."""

    after: str = ""


class SyncState(Response, frozen=True):
    """What this side has: versions by id, in the order of ids, and the name of the store."""

    store_id: str | None
    entries: dict[str, Standing]
    next_after: str | None


class SyncReadRequest(Request, frozen=True):
    """Entries by id."""

    ids: Ids


class SyncReadAnswer(Response, frozen=True):
    """The entries that live, and what the archive tells of the others."""

    entries: list[msgspec.Raw]
    traces: dict[str, Trace]


class SyncChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change: an entry as stored elsewhere, or none for a removal."""

    id: str
    kind: StepKind
    expected: str | None
    entry: dict[str, Any] | None = None
    reason: str = ""


class SyncApplyRequest(Request, frozen=True):
    """Changes that become visible together."""

    changes: Annotated[list[SyncChange], msgspec.Meta(max_length=MAX_CHANGES)]


class SyncFault(Response, frozen=True):
    """Why an entry was left alone."""

    id: str
    code: str
    message: str


class SyncApplyAnswer(Response, frozen=True):
    """The versions of what was changed, null for what was removed, and what was left alone."""

    versions: dict[str, str | None]
    faults: list[SyncFault]


class SyncBaseRequest(Request, frozen=True):
    """With whom; with a token, what both have in common is kept, else it is answered."""

    peer: str
    store_id: str | UnsetType = UNSET
    token: str | UnsetType = UNSET
    versions: dict[str, str] | UnsetType = UNSET


class SyncBase(Response, frozen=True):
    """What this side and a peer had in common after their last sync."""

    token: str | None
    versions: dict[str, str]


def sync_state(call: Call, request: SyncStateRequest) -> SyncState:
    """Return one page of what the project has."""
    store = call.store
    view = store.view
    ids = sorted(entry_id for entry_id in view.records if entry_id > request.after)
    page = list(islice(ids, PAGE))
    records = [view.records[entry_id] for entry_id in page]
    return SyncState(
        store_id=store.peers.store_id(),
        entries={
            one.header.id: Standing(one.version(), one.header.timestamps.updated_utc)
            for one in records
            if not is_expired(one.header, call.now)
        },
        next_after=page[-1] if len(page) < len(ids) else None,
    )


def sync_read(call: Call, request: SyncReadRequest) -> SyncReadAnswer:
    """Return entries as stored, and traces of those that are gone."""
    store = call.store
    view = store.view
    found = [record for one in request.ids if (record := view.get(one)) is not None]
    living_ids = {one.header.id for one in found if not is_expired(one.header, call.now)}
    gone = set(request.ids) - living_ids
    traces = {
        one.entry["id"]: Trace(version_of(one.entry), one.reason)
        for one in (store.archive.entries() if gone else [])
        if one.entry["id"] in gone
    }
    entries = [whole_entry(one) for one in found if one.header.id in living_ids]
    return SyncReadAnswer(entries=entries, traces=traces)


def sync_apply(call: Call, request: SyncApplyRequest) -> SyncApplyAnswer:
    """Change what is still as expected, in one commit; what is not is left alone and named."""
    writing = writing_for(call)

    def plan(draft: Draft) -> SyncApplyAnswer:
        answer = SyncApplyAnswer(versions={}, faults=[])
        for change in request.changes:
            try:
                if change.entry is not None:
                    _check_secrets(change.entry, call.endpoint.secrets)
                answer.versions[change.id] = _apply(draft, change, writing)
            except QmsError as error:
                fault = SyncFault(id=change.id, code=error.code, message=error.message)
                answer.faults.append(fault)
        return answer

    return call.commit(plan)


def sync_base(call: Call, request: SyncBaseRequest) -> SyncBase:
    """Return what is common with a peer, or keep it."""
    peers = call.store.peers
    if isinstance(request.token, str):
        if not isinstance(request.store_id, str) or not isinstance(request.versions, dict):
            raise invalid("versions", "and storeId are needed with a token")
        base = PeerBase(request.token, request.versions)
        try:
            peers.remember(request.store_id, request.peer, base)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StorageFullError(f"what is common cannot be kept now: {reason}") from error
        return SyncBase(token=base.token, versions={})
    found = peers.base(request.peer)
    if found is None:
        return SyncBase(token=None, versions={})
    return SyncBase(token=found.token, versions=found.versions)


def _apply(draft: Draft, change: SyncChange, writing: Writing) -> str | None:
    before = living(draft, change.id, writing.now)
    current = before.version() if before else None
    if current != change.expected:
        raise ConflictError(f"entry {change.id} was changed meanwhile: sync again", id=change.id)
    if change.kind is StepKind.REMOVE:
        draft.remove(change.id, reason=change.reason or "deleted")
        return None
    document = _checked(change, writing)
    check_quota(draft, writing, document, before)
    if change.kind is StepKind.REPLACE:
        draft.remove(change.id, reason=SUPERSEDED)
    return draft.put(document).version()


def _check_secrets(entry: Document, policy: SecretsPolicy) -> None:
    """Refuse a secret unless the project only warns of one: redacted, it would be another entry."""
    _, warnings = withhold(entry, policy)
    if warnings and policy is not SecretsPolicy.WARN:
        raise invalid("entry", f"cannot be redacted by a sync, redact it there: {warnings[0]}")


def _checked(change: SyncChange, writing: Writing) -> Document:
    """Return an entry of the other side as it will be stored: nothing of it is stamped anew."""
    if change.entry is None or change.entry.get("id") != change.id:
        raise invalid("entry", f"is not {change.id}")
    document = normalise(change.entry)
    check(document, writing.rules.project, writing.rules.limits)
    encode_checked(document, writing.rules.limits)
    return document
