"""The commands of a sync: syncState, syncRead, syncApply and syncBase."""

from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import whole_entry
from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.entry_writes import WriteRules, check_quota, living, write_rules
from qms.commands.requests import Request, Response
from qms.commands.secrets_policy import withhold
from qms.commands.visible import visible_record
from qms.config.settings import SecretsPolicy
from qms.features.sync.peers_file import PeerBase, Peers
from qms.features.sync.rule import StepKind, SyncedVersion, Trace
from qms.memory.access import AccessTier
from qms.memory.entry import Document
from qms.memory.errors import ConflictError, QmsError, StorageFullError, invalid
from qms.memory.limits import Limits, limited_by
from qms.memory.parts import document_id_of
from qms.memory.retention import is_expired
from qms.memory.validation import check, encode_checked, normalise, version_of
from qms.memory.visibility import SHOWS_ALL, Visibility
from qms.store.draft import Draft
from qms.store.view import Record

PAGE = 5000
"""One answer of `syncState`, and one request of `syncRead`, names at most this many entries."""

MAX_CHANGES = 500
"""One `syncApply` changes at most this many entries, in one ChangeSet."""

SUPERSEDED = "superseded"

MAX_PROJECTS = 10_000

Ids = Annotated[list[str], msgspec.Meta(max_length=PAGE)]
Projects = Annotated[list[str], msgspec.Meta(max_length=MAX_PROJECTS)]
"""The projects that both sides open; relations to other projects are not synced."""


class SyncStateRequest(Request, frozen=True):
    """The page that follows an id."""

    after: str = ""
    projects: Projects | None = None


class SyncState(Response, frozen=True):
    """The versions of this side by id, in the order of ids, and the id of the store.

    A version covers the parts of an entry that both sides may see. `projects` are those that the
    caller opens here; null means all.
    """

    store_id: str | None
    projects: list[str] | None
    entries: dict[str, SyncedVersion]
    next_after: str | None


class SyncReadRequest(Request, frozen=True):
    """Entries by id."""

    ids: Ids
    projects: Projects | None = None


class SyncReadAnswer(Response, frozen=True):
    """The current entries, and the archive traces of the others."""

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
    projects: Projects | None = None


class SyncFault(Response, frozen=True):
    """The reason why an entry was not changed."""

    id: str
    code: str
    message: str


class SyncApplyAnswer(Response, frozen=True):
    """The versions of changed entries, null for removed ones, and the faults of the others."""

    versions: dict[str, str | None]
    faults: list[SyncFault]


class SyncBaseRequest(Request, frozen=True):
    """The peer; with a token the base is stored, without one it is returned."""

    peer: str
    store_id: str | UnsetType = UNSET
    token: str | UnsetType = UNSET
    versions: Annotated[dict[str, str], limited_by("syncEntries")] | UnsetType = UNSET


class SyncBase(Response, frozen=True):
    """The versions that this side and a peer had in common after their last sync."""

    token: str | None
    versions: dict[str, str]


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="List the versions of all entries, for a sync",
    example={"after": EXAMPLE_ID},
    read_only=True,
    idempotent=True,
    care=True,
)
def sync_state(call: Call, request: SyncStateRequest) -> SyncState:
    """Return one page of the project's versions."""
    store, visibility = call.store, call.visibility.limited_to(request.projects)
    view = store.view
    rows = call.deadline.rows(view.records)
    ids = sorted(entry_id for entry_id in rows if entry_id > request.after)
    page = list(islice(ids, PAGE))
    records = [view.records[entry_id] for entry_id in page]
    return SyncState(
        store_id=store.features.get(Peers).store_id(),
        projects=_opened(call),
        entries={
            one.header.id: SyncedVersion(
                _version(one, visibility),
                one.header.timestamps.updated_utc,
                document_id_of(one.header),
            )
            for one in call.deadline.rows(records)
            if not is_expired(one.header, call.now)
        },
        next_after=page[-1] if len(page) < len(ids) else None,
    )


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Read entries for a sync, and what the archive tells of those that are gone",
    example={"ids": [EXAMPLE_ID]},
    read_only=True,
    idempotent=True,
    care=True,
)
def sync_read(call: Call, request: SyncReadRequest) -> SyncReadAnswer:
    """Return entries as both sides may see them, and archive traces of missing ones."""
    store, visibility = call.store, call.visibility.limited_to(request.projects)
    view = store.view
    found = [record for one in request.ids if (record := view.get(one)) is not None]
    living_ids = {one.header.id for one in found if not is_expired(one.header, call.now)}
    gone = set(request.ids) - living_ids
    traces = {
        one.entry["id"]: Trace(version_of(visibility.shown(one.entry)), one.reason)
        for one in (store.archive.entries(call.deadline) if gone else [])
        if one.entry["id"] in gone
    }
    seen = [visible_record(one, visibility) for one in found if one.header.id in living_ids]
    entries = [whole_entry(one) for one in seen]
    return SyncReadAnswer(entries=entries, traces=traces)


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Take over entries of another side, each only if it is still as expected here",
    example={"changes": [{"id": EXAMPLE_ID, "kind": "remove", "expected": "0123456789abcdef"}]},
    destructive=True,
    idempotent=True,
    care=True,
)
def sync_apply(call: Call, request: SyncApplyRequest) -> SyncApplyAnswer:
    """Apply the changes whose expected version is current, in one commit; report the others."""
    writing, visibility = write_rules(call), call.visibility.limited_to(request.projects)

    def plan(draft: Draft) -> SyncApplyAnswer:
        draft.written_by(visibility)
        draft.is_whole_copy = True
        answer = SyncApplyAnswer(versions={}, faults=[])
        for change in request.changes:
            try:
                if change.entry is not None:
                    _check_secrets(change.entry, call.endpoint.secrets, call.rules.limits)
                answer.versions[change.id] = _apply(draft, change, writing, visibility)
            except QmsError as error:
                fault = SyncFault(id=change.id, code=error.code, message=error.message)
                answer.faults.append(fault)
        return answer

    return call.commit(plan)


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Read or keep what this side and another one had in common after a sync",
    example={"peer": "0" * 32},
    idempotent=True,
    care=True,
)
def sync_base(call: Call, request: SyncBaseRequest) -> SyncBase:
    """Return the base with a peer, or store it."""
    peers = call.store.features.get(Peers)
    if isinstance(request.token, str):
        if not isinstance(request.store_id, str) or not isinstance(request.versions, dict):
            raise invalid("versions", "is required with a token, as is storeId")
        base = PeerBase(request.token, request.versions)
        try:
            peers.remember(request.store_id, request.peer, base)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StorageFullError(f"the sync base cannot be written now: {reason}") from error
        return SyncBase(token=base.token, versions={})
    found = peers.base(request.peer)
    if found is None:
        return SyncBase(token=None, versions={})
    return SyncBase(token=found.token, versions=found.versions)


def _apply(
    draft: Draft, change: SyncChange, writing: WriteRules, visibility: Visibility
) -> str | None:
    before = living(draft, change.id, writing.now)
    current = _version(before, visibility) if before else None
    if current != change.expected:
        raise ConflictError(
            f"entry {change.id} was changed during the sync: sync again", id=change.id
        )
    if change.kind is StepKind.REMOVE:
        # The other side required `force` when it deleted a permanent entry.
        draft.remove(change.id, reason=change.reason or "deleted", force=True)
        return None
    document = draft.with_hidden(_checked(change, writing), before)
    check_quota(draft, writing, document, before)
    if change.kind is StepKind.REPLACE:
        draft.remove(change.id, reason=SUPERSEDED, force=True, with_parts=False)
    return _version(draft.put(document), visibility)


def _version(record: Record, visibility: Visibility) -> str:
    """Return the version of the parts of an entry that both sides may see."""
    if not visibility.hides_part_of(record.header, record.line):
        return record.version()
    return version_of(visibility.shown(record.document()))


def _opened(call: Call) -> list[str] | None:
    """Return the projects that the caller opens here, or None when it sees everything."""
    if call.visibility is SHOWS_ALL:
        return None
    return [slug for slug in call.settings.endpoints if call.visibility.opens(slug)]


def _check_secrets(entry: Document, policy: SecretsPolicy, limits: Limits) -> None:
    """Refuse a secret unless the project only warns of one: redacted, it would be another entry."""
    _, warnings = withhold(entry, policy, limits)
    if warnings and policy is not SecretsPolicy.WARN:
        raise invalid(
            "entry", f"cannot be redacted by a sync, redact it on the other side: {warnings[0]}"
        )


def _checked(change: SyncChange, writing: WriteRules) -> Document:
    """Return an entry of the other side as it will be stored, with its own timestamps."""
    if change.entry is None or change.entry.get("id") != change.id:
        raise invalid("entry", f"is not {change.id}")
    document = normalise(change.entry)
    check(document, writing.rules.project, writing.rules.limits)
    encode_checked(document, writing.rules.limits)
    return document
