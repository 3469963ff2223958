"""What the tools of the MCP memory server take and answer."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.service.answers import Spoken
from qms.service.requests import Request, Response


class Entity(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A thing, and what was observed of it."""

    name: str
    entity_type: str
    observations: list[str]


class Relation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A relation in active voice, between two names."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    relation_type: str


class NewObservations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to add to an entity."""

    entity_name: str
    contents: list[str]


class OldObservations(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What to take off an entity."""

    entity_name: str
    observations: list[str]


class CreateEntitiesRequest(Request, frozen=True):
    """Entities to make; one whose name is there is left as it is."""

    entities: list[Entity]


class RelationsRequest(Request, frozen=True):
    """Relations to make or to take away."""

    relations: list[Relation]


class AddObservationsRequest(Request, frozen=True):
    """Observations by entity."""

    observations: list[NewObservations]


class DeleteEntitiesRequest(Request, frozen=True):
    """Names of entities."""

    entity_names: Annotated[list[str], msgspec.Meta(description="Names of entities to delete")]


class DeleteObservationsRequest(Request, frozen=True):
    """Observations to take away, by entity."""

    deletions: list[OldObservations]


class SearchNodesRequest(Request, frozen=True):
    """A text that a name, a type or an observation holds."""

    query: Annotated[
        str, msgspec.Meta(description="Looked for in names, types and observations, without case")
    ]


class OpenNodesRequest(Request, frozen=True):
    """Names of entities."""

    names: Annotated[list[str], msgspec.Meta(description="Names of entities to retrieve")]


class EntitiesAnswer(Response, frozen=True):
    """The entities that are new."""

    entities: list[Entity]


class RelationsAnswer(Response, frozen=True):
    """The relations that are new."""

    relations: list[Relation]


class AddedObservations(Response, frozen=True):
    """What was added to an entity."""

    entity_name: str
    added_observations: list[str]


class ObservationsAnswer(Response, frozen=True):
    """What was added, by entity."""

    results: list[AddedObservations]


class DoneAnswer(Response, frozen=True):
    """That it is done."""

    success: bool
    message: str


class GraphAnswer(Response, frozen=True):
    """Entities and their relations; `note` says what a limit left out."""

    entities: list[Entity]
    relations: list[Relation]
    note: str | UnsetType = UNSET


def spoken(content: Response, shown: Any) -> Spoken:
    """Return an answer whose text is what the reference server writes: indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(shown), indent=2).decode()
    return Spoken(text=text, content=content)


def done(message: str) -> Spoken:
    """Return that something is done; the text is the message alone."""
    return Spoken(text=message, content=DoneAnswer(success=True, message=message))
