"""Resource URIs: `memory://<project>/<id>` for an entry, `memory://<project>/?tag=…` for a list."""

from collections.abc import Iterator
from urllib.parse import parse_qs, quote, unquote, urlsplit

import msgspec

from qms.memory.entry import split_id

SCHEME = "memory"
KNOWLEDGE_GRAPH = f"{SCHEME}://knowledge-graph"
"""The URI of the graph in the MCP memory server; its clients find our graph there."""

LIST_FIELDS = ("tag", "kind")


class EntryAddress(msgspec.Struct, frozen=True):
    """One entry of a project, by its full id."""

    project: str
    id: str


class ListAddress(msgspec.Struct, frozen=True):
    """The newest entries of a project, with a tag or of a kind."""

    project: str
    wanted: dict[str, str]


def read_address(uri: str) -> EntryAddress | ListAddress | None:
    """Parse a `memory://` URI; return None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != SCHEME or not parts.netloc:
        return None
    project, local = unquote(parts.netloc), unquote(parts.path.removeprefix("/"))
    if not local:
        given = parse_qs(parts.query)
        return ListAddress(project, {name: given[name][0] for name in LIST_FIELDS if name in given})
    return EntryAddress(project, local if ":" in local else f"{project}:{local}")


def address_of(entry_id: str) -> str:
    """Return the URI of an entry that lists use."""
    return f"{SCHEME}://{split_id(entry_id)[0]}/{quote(entry_id, safe=':~')}"


def addresses_of(entry_id: str) -> Iterator[str]:
    """Yield every URI of an entry, so that each subscriber hears of a change."""
    project, local = split_id(entry_id)
    for last in (entry_id, local):
        yield f"{SCHEME}://{project}/{last}"
    yield f"{SCHEME}://{project}/{quote(entry_id, safe='~')}"


def entry_template(project: str) -> str:
    """Return the RFC 6570 template of a project's entries."""
    return f"{SCHEME}://{project}/{{id}}"


def list_template(project: str) -> str:
    """Return the RFC 6570 template of a project's lists."""
    return f"{SCHEME}://{project}/{{?{','.join(LIST_FIELDS)}}}"
