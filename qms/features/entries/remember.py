"""remember: store a text as a memory with a flat request, for models that see the tool first."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.entry_writes import Similar, Stored, living, own_entry, upsert, write_rules
from qms.commands.requests import Request, Response
from qms.commands.secrets_policy import withhold
from qms.features.entries.contradicted import potential_contradictions
from qms.memory.access import AccessTier
from qms.memory.bodies import MAIN_FIELDS, Kind, body_from_text, main_text, usual_kinds
from qms.memory.entry import Document, Retention
from qms.memory.errors import invalid
from qms.memory.validation import title_from
from qms.store.draft import Draft


class RememberRequest(Request, frozen=True):
    """The text to store, and what is known about it."""

    text: Annotated[str, msgspec.Meta(min_length=1, description="One thing, clear on its own")]
    title: Annotated[
        str | None,
        msgspec.Meta(description="Short and telling"),
    ] = None
    kind: Annotated[Kind | None, usual_kinds("Default note")] = None
    tags: Annotated[list[str] | None, msgspec.Meta(description="Few, lower case")] = None
    id: Annotated[str | None, msgspec.Meta(description="To change this memory")] = None
    retention: Annotated[
        Retention | None,
        msgspec.Meta(description="short: hours, mid: a week"),
    ] = None
    source: Annotated[
        dict[str, Any] | None, msgspec.Meta(description="Origin, as {path} or {url}")
    ] = None


class RememberAnswer(Response, frozen=True):
    """The outcome of the write."""

    id: str
    created: bool
    updated: bool
    duplicate_of: str | UnsetType = UNSET
    similar: tuple[Similar, ...] = ()
    contradictions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@command(
    tier=AccessTier.WRITER,
    toolset="core",
    also=("lite",),
    help="Store one memory. Use it for what matters in later conversations (decisions,"
    " corrections, hard-won facts), not for secrets or passing details",
    example={"text": "The index is rebuilt at night", "kind": "fact", "tags": ["search"]},
    destructive=True,
    idempotent=True,
    brief=True,
)
def remember(call: Call, request: RememberRequest) -> RememberAnswer:
    """Store a text as a new memory, or change the text of the one with its id."""
    if not request.text.strip():
        raise invalid("text", "must not be blank")
    given, secrets = withhold(_given(request), call.endpoint.secrets, call.rules.limits)
    entry, writing, local_id = own_entry(given, call), write_rules(call), call.new_local_id()

    def plan(draft: Draft) -> Stored:
        before = living(draft, entry["id"], writing.now) if "id" in entry else None
        known = draft.shown(before) if before is not None else None
        return upsert(draft, _whole(entry, known), writing, local_id=local_id)

    stored = call.commit(plan)
    is_duplicate = not (stored.created or stored.updated)
    entry_id = stored.record.header.id
    return RememberAnswer(
        id=entry_id,
        created=stored.created,
        updated=stored.updated,
        duplicate_of=entry_id if is_duplicate else UNSET,
        similar=stored.similar,
        contradictions=potential_contradictions(call, stored.record),
        warnings=(*secrets, *stored.remarks, *stored.warnings),
    )


def _given(request: RememberRequest) -> Document:
    """Return the fields that the request gives; `body` is the plain text."""
    given = {
        "id": request.id,
        "kind": request.kind,
        "title": request.title,
        "body": request.text,
        "tags": request.tags,
        "retention": request.retention,
        "source": request.source,
    }
    return {name: value for name, value in given.items() if value is not None}


def _whole(given: Document, known: Document | None) -> Document:
    """Return the entry to store: all that the stored one has, with what is given in its place."""
    if known is None:
        return {"kind": Kind.NOTE.value, **given}
    kind = Kind(given["kind"] if "kind" in given else known["kind"])
    body = body_from_text(kind, given["body"])
    if kind == known["kind"]:
        old = {key: value for key, value in known["body"].items() if key not in MAIN_FIELDS[kind]}
        body = {**body, **old}
    kept = {key: value for key, value in known.items() if key not in ("timestamps", "ttlUtc")}
    if known["title"] == title_from(main_text(Kind(known["kind"]), known["body"])):
        del kept["title"]
    return {**kept, **given, "kind": kind.value, "body": body}
