"""Relations of an entry: link, unlink and list."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Rendered
from qms.commands.call import Call, living_in, no_entry
from qms.commands.command import EXAMPLE_ID, OTHER_EXAMPLE_ID, command
from qms.commands.entry_writes import check_quota, check_version, living, write_rules
from qms.commands.formats import TokenBudget, longest
from qms.commands.requests import Conditions, Request, Response
from qms.commands.rows import ItemTable
from qms.commands.secrets_policy import withhold
from qms.features.links.related import Direction
from qms.memory.access import AccessTier
from qms.memory.entry import Document
from qms.memory.entry_input import patched_document
from qms.memory.errors import invalid
from qms.memory.filters import Format
from qms.memory.relations import RELATION_TYPE, TYPE_RULE
from qms.memory.validation import instant_text
from qms.store.draft import Draft
from qms.store.view import Record, StoreView

RELATED = "relatedTo"

Relations = list[dict[str, Any]]
Weight = Annotated[float, msgspec.Meta(ge=0, le=1)]


class LinkRequest(Request, frozen=True):
    """The relation: its source, its target and its type."""

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


class UnlinkRequest(Conditions, frozen=True):
    """The relations between two entries, of one type or of all types."""

    source_id: str
    target_id: str
    type: str | None = None
    if_version: str | None = None


class UnlinkAnswer(Response, frozen=True):
    """The number of removed relations, and the version of their source."""

    unlinked: int
    version: str


class LinksRequest(Request, frozen=True):
    """The entry, and the direction and types of its relations."""

    id: str
    direction: Direction = "both"
    types: frozenset[str] | None = None
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
    """The relations of an entry, its own first; `omitted` counts those beyond the budget."""

    links: list[Link]
    omitted: int


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Relate an entry to another",
    example={"sourceId": EXAMPLE_ID, "targetId": OTHER_EXAMPLE_ID, "type": "derivedFrom"},
    idempotent=True,
    brief=True,
)
def link_entries(call: Call, request: LinkRequest) -> LinkAnswer:
    """Add a relation to its source, or change the existing one of the same type."""
    _check_type(request.type)
    target = call.find(request.target_id).header.id
    if target == call.full_id(request.source_id):
        raise invalid("targetId", "must be another entry than the source")
    relation: dict[str, Any] = {"type": request.type, "targetId": target}
    if request.weight is not None:
        relation["weight"] = request.weight
    given = {} if request.metadata is None else {"metadata": request.metadata}
    kept, warnings = withhold(given, call.endpoint.secrets, call.rules.limits)
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


@command(
    tier=AccessTier.WRITER,
    toolset="lifecycle",
    help="Take the relations between two entries away, of one type or all",
    example={"sourceId": EXAMPLE_ID, "targetId": OTHER_EXAMPLE_ID},
    destructive=True,
    idempotent=True,
    brief=True,
)
def unlink_entries(call: Call, request: UnlinkRequest) -> UnlinkAnswer:
    """Remove relations from their source."""
    target = call.full_id(request.target_id)
    unlinked = 0

    def change(before: Relations) -> Relations:
        nonlocal unlinked
        # A relation that the caller cannot see counts as absent, and stays.
        is_shown = call.visibility.shows(target)
        kept = [one for one in before if not (is_shown and _is_between(one, target, request.type))]
        unlinked = len(before) - len(kept)
        return kept

    record = _changed(call, request.source_id, request.if_version, change)
    return UnlinkAnswer(unlinked=unlinked, version=record.version())


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="List the relations of an entry, its own and those that lead to it",
    example={"id": EXAMPLE_ID, "direction": "out"},
    read_only=True,
    idempotent=True,
    brief=True,
)
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
    """Return the links that match a request."""
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
            for source in call.deadline.rows(view.incoming.get(entry_id, ()))
            if (other := living_in(views, source, call.now)) is not None
        ]
        found += [
            _with_title(link, source)
            for source in call.deadline.rows(sources)
            for link in _links_from(source, views, call)
            if link.target_id == entry_id
        ]
    wanted = request.types
    return [one for one in found if wanted is None or one.type in wanted]


def _changed(
    call: Call, given_id: str, if_version: str | None, change: Callable[[Relations], Relations]
) -> Record:
    entry_id, writing = call.own_id(given_id), write_rules(call)

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
