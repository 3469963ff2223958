"""Toolset `serverMemory`: the nine tools of the MCP memory server, for its clients."""

from qms.domain.access import AccessTier
from qms.service.calls import Command
from qms.service.requests import NoArguments
from qms.service.server_memory import changing, graph, shapes

_TOOLSET = "serverMemory"
_ENTITY = {
    "name": "John_Smith",
    "entityType": "person",
    "observations": ["Speaks fluent Spanish"],
}
_RELATION = {"from": "John_Smith", "to": "Anthropic", "relationType": "works_at"}

SERVER_MEMORY: tuple[Command, ...] = (
    Command(
        name="create_entities",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.CreateEntitiesRequest,
        response=shapes.EntitiesAnswer,
        handler=changing.create_entities,
        help="Create new entities in the knowledge graph; names that exist are left as they are",
        example={"entities": [_ENTITY]},
        idempotent=True,
    ),
    Command(
        name="create_relations",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.RelationsRequest,
        response=shapes.RelationsAnswer,
        handler=changing.create_relations,
        help="Create new relations between entities, in active voice",
        example={"relations": [_RELATION]},
        idempotent=True,
    ),
    Command(
        name="add_observations",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.AddObservationsRequest,
        response=shapes.ObservationsAnswer,
        handler=changing.add_observations,
        help="Add new observations to entities that exist",
        example={"observations": [{"entityName": "John_Smith", "contents": ["Graduated in 2019"]}]},
        idempotent=True,
    ),
    Command(
        name="delete_entities",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.DeleteEntitiesRequest,
        response=shapes.DoneAnswer,
        handler=changing.delete_entities,
        help="Delete entities and the relations that begin or end there",
        example={"entityNames": ["John_Smith"]},
        destructive=True,
        idempotent=True,
    ),
    Command(
        name="delete_observations",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.DeleteObservationsRequest,
        response=shapes.DoneAnswer,
        handler=changing.delete_observations,
        help="Delete observations from entities",
        example={
            "deletions": [{"entityName": "John_Smith", "observations": ["Graduated in 2019"]}]
        },
        destructive=True,
        idempotent=True,
    ),
    Command(
        name="delete_relations",
        toolset=_TOOLSET,
        least=AccessTier.WRITER,
        request=shapes.RelationsRequest,
        response=shapes.DoneAnswer,
        handler=changing.delete_relations,
        help="Delete relations from the knowledge graph",
        example={"relations": [_RELATION]},
        destructive=True,
        idempotent=True,
    ),
    Command(
        name="read_graph",
        toolset=_TOOLSET,
        least=AccessTier.READER,
        request=NoArguments,
        response=shapes.GraphAnswer,
        handler=graph.read_graph,
        help="Read the knowledge graph; of a large one the part that was changed last",
        example={},
        read_only=True,
        idempotent=True,
    ),
    Command(
        name="search_nodes",
        toolset=_TOOLSET,
        least=AccessTier.READER,
        request=shapes.SearchNodesRequest,
        response=shapes.GraphAnswer,
        handler=graph.search_nodes,
        help="Search for entities whose name, type or observations hold a text",
        example={"query": "spanish"},
        read_only=True,
        idempotent=True,
    ),
    Command(
        name="open_nodes",
        toolset=_TOOLSET,
        least=AccessTier.READER,
        request=shapes.OpenNodesRequest,
        response=shapes.GraphAnswer,
        handler=graph.open_nodes,
        help="Open entities by their names, with their relations",
        example={"names": ["John_Smith"]},
        read_only=True,
        idempotent=True,
    ),
)
