"""Requests and answers of the tools of the MCP memory server."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.answers import Content, Spoken
from qms.commands.requests import Request, Response
from qms.memory.limits import limited_by

_CHANGED = limited_by("bulkEntries")


class GraphEntity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entity and its observations."""

    name: str
    entity_type: str
    observations: list[str]


class GraphRelation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A relation in active voice, between two names."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    relation_type: str


class NewObservations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Observations to add to an entity."""

    entity_name: str
    contents: list[str]


class OldObservations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Observations to remove from an entity."""

    entity_name: str
    observations: list[str]


class CreateEntitiesRequest(Request, frozen=True):
    """Entities to create; one whose name exists is not changed."""

    entities: Annotated[list[GraphEntity], _CHANGED]


class RelationsRequest(Request, frozen=True):
    """Relations to create or to delete."""

    relations: Annotated[list[GraphRelation], _CHANGED]


class AddObservationsRequest(Request, frozen=True):
    """Observations to add, by entity."""

    observations: Annotated[list[NewObservations], _CHANGED]


class DeleteEntitiesRequest(Request, frozen=True):
    """The names of entities to delete."""

    entity_names: Annotated[
        list[str], msgspec.Meta(description="Names of entities to delete"), _CHANGED
    ]


class DeleteObservationsRequest(Request, frozen=True):
    """Observations to delete, by entity."""

    deletions: Annotated[list[OldObservations], _CHANGED]


class SearchNodesRequest(Request, frozen=True):
    """A text that a name, a type or an observation must contain."""

    query: Annotated[
        str, msgspec.Meta(description="Looked for in names, types and observations, without case")
    ]


class OpenNodesRequest(Request, frozen=True):
    """The names of entities to return."""

    names: Annotated[list[str], msgspec.Meta(description="Names of entities to retrieve")]


class EntitiesAnswer(Response, frozen=True):
    """The new entities."""

    entities: list[GraphEntity]


class RelationsAnswer(Response, frozen=True):
    """The new relations; `note` names those that cannot be created."""

    relations: list[GraphRelation]
    note: str | UnsetType = UNSET


class AddedObservations(Response, frozen=True):
    """The observations that were added to an entity."""

    entity_name: str
    added_observations: list[str]


class ObservationsAnswer(Response, frozen=True):
    """The added observations, by entity."""

    results: list[AddedObservations]


class DoneAnswer(Response, frozen=True):
    """A confirmation."""

    success: bool
    message: str


class GraphAnswer(Response, frozen=True):
    """Entities and their relations; `note` says what was left out by a limit."""

    entities: list[GraphEntity]
    relations: list[GraphRelation]
    note: str | UnsetType = UNSET


def spoken(content: Content, shown: Any) -> Spoken[Content]:
    """Return an answer with the text of the reference server: indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()
    return Spoken(text=text, content=content)


def done(message: str) -> Spoken[DoneAnswer]:
    """Return a confirmation; its text is the message alone."""
    return Spoken(text=message, content=DoneAnswer(success=True, message=message))
