"""What a commit means to MCP clients: which addresses changed, and which lists."""

from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)

from qms.api.mcp.addresses import KNOWLEDGE_GRAPH, addresses_of
from qms.api.mcp.prompts import TAG
from qms.domain.bodies import Kind
from qms.domain.changes import ChangeSet, Put

_ENTITY = f'"{Kind.ENTITY}"'.encode()
_TAGGED = f'"{TAG}"'.encode()


def entry_events(changes: ChangeSet) -> list[ServerEvent]:
    """Return what clients that follow these entries are to be told."""
    return [
        ResourceUpdated(address)
        for change in changes.changes
        for address in addresses_of(change.id)
    ]


def list_events(changes: ChangeSet) -> list[ServerEvent]:
    """Return what clients that hold a list of these entries' project are to be told."""
    events: list[ServerEvent] = []
    if any(not isinstance(change, Put) or change.created for change in changes.changes):
        events.append(ResourcesListChanged())
    if any(_ENTITY in bytes(change.entry) for change in changes.changes):
        events.append(ResourceUpdated(KNOWLEDGE_GRAPH))
    # The word may stand elsewhere in the line; a list fetched in vain does no harm.
    if any(_TAGGED in bytes(change.entry) for change in changes.changes):
        events.append(PromptsListChanged())
    return events
