"""How long entries live: promotion, and the expiry that is due."""

from functools import partial

from qms.domain.entry import Retention
from qms.domain.lifecycle import is_expired
from qms.service.answers import EntryAnswer
from qms.service.calls import Call
from qms.service.entries import PatchRequest, patch_entry
from qms.service.requests import Request, Response
from qms.service.touching import settle
from qms.upkeep.expire import expire, expired_ids


class GcRequest(Request, frozen=True):
    """Whether to say only what would be done."""

    dry_run: bool = False


class GcAnswer(Response, frozen=True):
    """How many entries were past their end, and which."""

    expired: int
    ids: list[str]


class PromoteRequest(Request, frozen=True):
    """Which entry, and how long it is to live from now on."""

    id: str
    retention: Retention = Retention.LONG
    if_version: str | None = None


def collect_expired(call: Call, request: GcRequest) -> GcAnswer:
    """Take out what is past its end now, instead of within minutes."""
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


def promote_entry(call: Call, request: PromoteRequest) -> EntryAnswer:
    """Let an entry live longer: its end is computed anew from the retention, or is gone."""
    patch = {"retention": request.retention.value}
    return patch_entry(
        call, PatchRequest(id=request.id, patch=patch, if_version=request.if_version)
    )
