"""Relations one by one: link, unlink, and list those of an entry."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.codec.documents import header_of, instant_text
from qms.domain.access import check_edit
from qms.domain.entry import Document
from qms.domain.errors import invalid
from qms.domain.queries import Format
from qms.domain.relations import RELATION_TYPE, TYPE_RULE
from qms.ingest.entries import patched_document
from qms.ingest.withhold import withhold
from qms.service.answers import Rendered
from qms.service.calls import Call, living_in, no_entry
from qms.service.formats import TokenBudget, longest
from qms.service.graph import Direction
from qms.service.requests import Request, Response
from qms.service.tables import ItemTable
from qms.service.writing import check_quota, check_version, living, writing_for
from qms.store.draft import Draft
from qms.store.view import Record, StoreView

RELATED = "relatedTo"

Relations = list[dict[str, Any]]
Weight = Annotated[float, msgspec.Meta(ge=0, le=1)]


class LinkRequest(Request, frozen=True):
    """The relation: from which entry, to which, of what type."""

    source_id: str
    target_id: str
    type: str = RELATED
    weight: Weight | None = None
    metadata: dict[str, Any] | None = None
    if_version: str | None = None


class LinkAnswer(Response, frozen=True):
    """Whether the relation is new, and the version of its source."""

    linked: bool
    version: str
    warnings: tuple[str, ...] | UnsetType = UNSET


class UnlinkRequest(Request, frozen=True):
    """Which relations: those of one type between two entries, or all of them."""

    source_id: str
    target_id: str
    type: str | None = None
    if_version: str | None = None


class UnlinkAnswer(Response, frozen=True):
    """How many relations are gone, and the version of their source."""

    unlinked: int
    version: str


class LinksRequest(Request, frozen=True):
    """Whose relations, which way, of which types."""

    id: str
    direction: Direction = "both"
    types: tuple[str, ...] | None = None
    format: Format = Format.JSON
    max_tokens: TokenBudget | None = None


class Link(Response, frozen=True):
    """One relation, and the title of its other end when the caller may see that."""

    source_id: str
    target_id: str
    type: str
    weight: float
    created_utc: str | UnsetType = UNSET
    title: str | UnsetType = UNSET


class LinksAnswer(Response, frozen=True):
    """The relations of an entry, its own first; `omitted` are those beyond the budget."""

    links: list[Link]
    omitted: int


def link_entries(call: Call, request: LinkRequest) -> LinkAnswer:
    """Add a relation to its source, or change the one of the same type that is there."""
    _check_type(request.type)
    target = call.find(request.target_id).header.id
    if target == call.full_id(request.source_id):
        raise invalid("targetId", "is the source: no entry relates to itself")
    relation: dict[str, Any] = {"type": request.type, "targetId": target}
    if request.weight is not None:
        relation["weight"] = request.weight
    given = {} if request.metadata is None else {"metadata": request.metadata}
    kept, warnings = withhold(given, call.endpoint.secrets)
    relation |= kept
    linked = False

    def change(before: Relations) -> Relations:
        nonlocal linked
        same = [one for one in before if _is_between(one, target, request.type)]
        linked = not same
        if same and {**same[0], **relation} == same[0]:
            return before
        made = {"createdUtc": instant_text(call.now), **(same[0] if same else {}), **relation}
        return [*(one for one in before if one not in same), made]

    record = _changed(call, request.source_id, request.if_version, change)
    return LinkAnswer(linked=linked, version=record.version(), warnings=warnings or UNSET)


def unlink_entries(call: Call, request: UnlinkRequest) -> UnlinkAnswer:
    """Take relations off their source."""
    target = call.full_id(request.target_id)
    unlinked = 0

    def change(before: Relations) -> Relations:
        nonlocal unlinked
        kept = [one for one in before if not _is_between(one, target, request.type)]
        unlinked = len(before) - len(kept)
        return kept

    record = _changed(call, request.source_id, request.if_version, change)
    return UnlinkAnswer(unlinked=unlinked, version=record.version())


def get_links(call: Call, request: LinksRequest) -> LinksAnswer | Rendered:
    """Return the relations of an entry whose other end the caller may see."""
    links, ids = links_of(call, request), ("sourceId", "targetId")
    table = ItemTable(request.format, call.project, Link, name="links", ids=ids)

    def answer(count: int) -> LinksAnswer | Rendered:
        shown, omitted = links[:count], len(links) - count
        if request.format is Format.JSON:
            return LinksAnswer(links=shown, omitted=omitted)
        return table.rendered(shown, omitted=omitted)

    return longest(answer, len(links), request.max_tokens)


def links_of(call: Call, request: LinksRequest) -> list[Link]:
    """Return the links that a request asks for."""
    record = call.find(request.id)
    views = call.views()
    found: list[Link] = []
    if request.direction != "in":
        found += _links_from(record, views, call)
    if request.direction != "out":
        entry_id = record.header.id
        sources = [
            other
            for view in views.values()
            for source in view.incoming.get(entry_id, ())
            if (other := living_in(views, source, call.now)) is not None
        ]
        found += [
            _with_title(link, source)
            for source in sources
            for link in _links_from(source, views, call)
            if link.target_id == entry_id
        ]
    wanted = request.types
    return [one for one in found if wanted is None or one.type in wanted]


def _changed(
    call: Call, given_id: str, if_version: str | None, change: Callable[[Relations], Relations]
) -> Record:
    entry_id, writing = call.own_id(given_id), writing_for(call)

    def plan(draft: Draft) -> Record:
        before = living(draft, entry_id, writing.now)
        if before is None:
            raise no_entry(given_id)
        check_version(before, if_version, given_id)
        document = before.document()
        relations: Relations = document.get("relations", [])
        after = change(relations)
        patch: Document = {"relations": after}
        made = patched_document(patch, document, now=writing.now, rules=writing.rules)
        check_edit(writing.caller.access, before.header, header_of(made))
        if after == relations:
            return before
        check_quota(draft, writing, made, before)
        return draft.put(made)

    return call.commit(plan)


def _check_type(given: str) -> None:
    if not RELATION_TYPE.fullmatch(given):
        raise invalid("type", TYPE_RULE)


def _is_between(relation: dict[str, Any], target: str, wanted: str | None) -> bool:
    return relation["targetId"] == target and wanted in (None, relation["type"])


def _links_from(record: Record, views: dict[str, StoreView], call: Call) -> Iterator[Link]:
    for relation in record.header.relations:
        other = living_in(views, relation.target_id, call.now)
        if other is not None:
            created = relation.created_utc
            yield Link(
                source_id=record.header.id,
                target_id=relation.target_id,
                type=relation.type,
                weight=relation.weight,
                created_utc=instant_text(created) if created else UNSET,
                title=other.header.title,
            )


def _with_title(link: Link, record: Record) -> Link:
    return msgspec.structs.replace(link, title=record.header.title)
