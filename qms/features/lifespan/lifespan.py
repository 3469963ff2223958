"""promote and gc: change an entry's retention, and remove expired entries now."""

from functools import partial

from qms.commands.answers import EntryAnswer
from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import Conditions, Request, Response
from qms.features.entries.entries import PatchRequest, patch_entry
from qms.features.lifespan.expire import expire, expired_ids
from qms.features.recall.uses import settle
from qms.memory.access import AccessTier
from qms.memory.entry import Retention
from qms.memory.retention import is_expired


class GcRequest(Conditions, frozen=True):
    """Whether to report only what would be removed."""

    dry_run: bool = False


class GcAnswer(Response, frozen=True):
    """The number and the ids of the expired entries."""

    expired: int
    ids: list[str]


class PromoteRequest(Request, frozen=True):
    """The entry, and its new retention."""

    id: str
    retention: Retention = Retention.LONG
    if_version: str | None = None


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    name="gc",
    help="Take out the entries that are past their end now, instead of within minutes",
    example={"dryRun": True},
    destructive=True,
    idempotent=True,
    after="extractMemories",
)
def collect_expired(call: Call, request: GcRequest) -> GcAnswer:
    """Remove expired entries now; the background job does it within minutes."""
    store, now = call.store, call.now
    keep = call.settings.global_.retention.archive_expired
    ids: list[str] = []
    if request.dry_run:
        ids = [one.header.id for one in store.view.records.values() if is_expired(one.header, now)]
    else:
        settle(store, call.settings.global_.retention, now)
        while batch := expired_ids(store.view, now):
            ids += call.commit(partial(expire, ids=batch, now=now, keep=keep))
    return GcAnswer(expired=len(ids), ids=sorted(ids))


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Let an entry live longer, for ever unless told otherwise",
    example={"id": EXAMPLE_ID},
    idempotent=True,
    brief=True,
)
def promote_entry(call: Call, request: PromoteRequest) -> EntryAnswer:
    """Change an entry's retention; its end is computed again from it, or removed."""
    patch = {"retention": request.retention.value}
    return patch_entry(
        call, PatchRequest(id=request.id, patch=patch, if_version=request.if_version)
    )
