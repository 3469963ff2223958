"""Proposals of a language model: list, accept or dismiss them."""

from typing import Annotated, Any

import msgspec

from qms.commands.answers import Rendered
from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Request, Response
from qms.commands.rows import ItemTable
from qms.features.contradictions.contradictions import CONTRADICTS
from qms.features.entries.entries import PatchRequest, patch_entry
from qms.features.links.links import LinkRequest, link_entries
from qms.features.proposals.proposals_file import Proposal, ProposalKind, Proposals
from qms.memory.access import AccessTier
from qms.memory.errors import NotFoundError, QmsError
from qms.memory.filters import Format
from qms.memory.validation import instant_text

ProposalIds = Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=100)]


class ProposalsRequest(Request, frozen=True):
    """The kind of proposals; both kinds when left out."""

    kind: ProposalKind | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class ProposedChange(Response, frozen=True):
    """One proposed change: the entry, the change, the model and its reason."""

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
    """Open proposals, the newest first; `has_more` when limit or budget cut them off."""

    items: list[ProposedChange]
    has_more: bool


class DecideRequest(Request, frozen=True):
    """The proposals to accept or dismiss."""

    ids: ProposalIds


class Refused(Response, frozen=True):
    """A proposal that was not accepted, and why."""

    id: str
    code: str
    message: str


class AcceptAnswer(Response, frozen=True):
    """The changed entries with their versions, and the refused proposals."""

    accepted: dict[str, str]
    refused: list[Refused]


class ProposalsDismissed(Response, frozen=True):
    """The number of dismissed proposals."""

    dismissed: int


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="List the tags and contradictions that a language model proposes for what was written",
    example={"kind": "tags"},
    read_only=True,
)
def list_proposals(call: Call, request: ProposalsRequest) -> ProposalsAnswer | Rendered:
    """Return the proposals for entries that have not changed since."""
    found = [
        _shown(one, title)
        for one in reversed(call.store.features.get(Proposals).all())
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


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Add the proposed tags, or state the proposed contradictions",
    example={"ids": ["0f3c9a51b2d47e68"]},
)
def accept_proposals(call: Call, request: DecideRequest) -> AcceptAnswer:
    """Apply proposals with the caller's own rights, each to the version that it is about."""
    kept = {one.id: one for one in call.store.features.get(Proposals).all()}
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
    call.store.features.get(Proposals).drop(done)
    return answer


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Dismiss proposals of a language model; no entry is changed",
    example={"ids": ["0f3c9a51b2d47e68"]},
    idempotent=True,
)
def dismiss_proposals(call: Call, request: DecideRequest) -> ProposalsDismissed:
    """Drop proposals without changing an entry."""
    proposals = call.store.features.get(Proposals)
    known = {one.id for one in proposals.all()} & set(request.ids)
    proposals.drop(known)
    return ProposalsDismissed(dismissed=len(known))


def _title(call: Call, proposal: Proposal) -> str | None:
    """Return the title of the proposal's entry, or None if the entry has changed."""
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
        raise NotFoundError("no such proposal: it was already decided, or its entry has changed")
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
    request = PatchRequest(id=proposal.entry_id, patch=patch, if_version=proposal.version)
    return {proposal.entry_id: patch_entry(call, request).version}
