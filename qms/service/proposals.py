"""Proposals of a language model: list them, let them come true, or dismiss them."""

from typing import Annotated, Any

import msgspec

from qms.codec.documents import instant_text
from qms.domain.errors import NotFoundError, QmsError
from qms.domain.queries import Format
from qms.files.proposals import Proposal, ProposalKind
from qms.service.answers import Rendered
from qms.service.calls import Call
from qms.service.contradictions import CONTRADICTS
from qms.service.entries import PatchRequest, patch_entry
from qms.service.formats import TokenBudget, longest
from qms.service.links import LinkRequest, link_entries
from qms.service.requests import Request, Response
from qms.service.tables import ItemTable

ProposalIds = Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=100)]


class ProposalsRequest(Request, frozen=True):
    """Of which kind; of both when it is left out."""

    kind: ProposalKind | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class ProposedChange(Response, frozen=True):
    """What would be done to which entry, in whose opinion, and why."""

    id: str
    kind: str
    entry_id: str
    title: str
    tags: tuple[str, ...]
    other_id: str | None
    why: str
    model: str
    proposed_utc: str


class ProposalsAnswer(Response, frozen=True):
    """What waits for a decision, the newest first; `has_more` when limit or budget cut it off."""

    items: list[ProposedChange]
    has_more: bool


class DecideRequest(Request, frozen=True):
    """Which proposals."""

    ids: ProposalIds


class Refused(Response, frozen=True):
    """A proposal that was not accepted, and why."""

    id: str
    code: str
    message: str


class AcceptAnswer(Response, frozen=True):
    """The entries that were changed, with their versions, and what was refused."""

    accepted: dict[str, str]
    refused: list[Refused]


class DismissAnswer(Response, frozen=True):
    """How many were dismissed."""

    dismissed: int


def list_proposals(call: Call, request: ProposalsRequest) -> ProposalsAnswer | Rendered:
    """Return what the model proposes for entries that have not changed since."""
    found = [
        _shown(one, title)
        for one in reversed(call.store.proposals.all())
        if request.kind in (None, one.kind) and (title := _title(call, one)) is not None
    ]
    ids = ("entryId", "otherId")
    table = ItemTable(request.format, call.project, ProposedChange, name="proposals", ids=ids)

    def answer(count: int) -> ProposalsAnswer | Rendered:
        shown, has_more = found[:count], len(found) > count
        if request.format is Format.JSON:
            return ProposalsAnswer(items=shown, has_more=has_more)
        return table.rendered(shown, hasMore=has_more)

    most = min(call.settings.global_.limits.results, len(found))
    return longest(answer, most, request.max_tokens)


def accept_proposals(call: Call, request: DecideRequest) -> AcceptAnswer:
    """Do what is proposed, each under the caller's own rights and to the version it is about."""
    kept = {one.id: one for one in call.store.proposals.all()}
    answer = AcceptAnswer(accepted={}, refused=[])
    done: list[str] = []
    for proposal_id in dict.fromkeys(request.ids):
        try:
            changed = _accepted(call, kept.get(proposal_id))
        except QmsError as error:
            refused = Refused(id=proposal_id, code=error.code, message=error.message)
            answer.refused.append(refused)
        else:
            answer.accepted.update(changed)
            done.append(proposal_id)
    call.store.proposals.drop(done)
    return answer


def dismiss_proposals(call: Call, request: DecideRequest) -> DismissAnswer:
    """Forget proposals; nothing is changed."""
    proposals = call.store.proposals
    known = {one.id for one in proposals.all()} & set(request.ids)
    proposals.drop(known)
    return DismissAnswer(dismissed=len(known))


def _title(call: Call, proposal: Proposal) -> str | None:
    """Return the title of the entry that a proposal is about, unless that has changed."""
    record = call.store.view.get(proposal.entry_id)
    if record is None or record.version() != proposal.version:
        return None
    return record.header.title


def _shown(one: Proposal, title: str) -> ProposedChange:
    return ProposedChange(
        id=one.id,
        kind=one.kind,
        entry_id=one.entry_id,
        title=title,
        tags=one.tags,
        other_id=one.other_id,
        why=one.why,
        model=one.model,
        proposed_utc=instant_text(one.proposed_utc),
    )


def _accepted(call: Call, proposal: Proposal | None) -> dict[str, str]:
    if proposal is None:
        raise NotFoundError("no such proposal: it was decided about, or its entry has changed")
    record = call.find(proposal.entry_id)
    if proposal.other_id is not None:
        link = LinkRequest(
            source_id=proposal.entry_id,
            target_id=proposal.other_id,
            type=CONTRADICTS,
            if_version=proposal.version,
        )
        return {proposal.entry_id: link_entries(call, link).version}
    new = [tag for tag in proposal.tags if tag not in record.header.tags]
    patch: dict[str, Any] = {"tags": [*record.header.tags, *new]}
    asked = PatchRequest(id=proposal.entry_id, patch=patch, if_version=proposal.version)
    return {proposal.entry_id: patch_entry(call, asked).version}
