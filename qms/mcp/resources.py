"""MCP resources: entries and lists of entries under `memory://`, and the server's help pages."""

import base64
from typing import Any

import msgspec
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp_types import (
    INVALID_PARAMS,
    Annotations,
    BlobResourceContents,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from qms.mcp.addresses import (
    KNOWLEDGE_GRAPH,
    EntryAddress,
    ListAddress,
    address_of,
    entry_template,
    list_template,
    read_address,
)
from qms.mcp.calls import Calls
from qms.mcp.message import Context, project_of, toolsets_of
from qms.mcp.pages import Content, Offers, PagePattern

PAGE_SIZE = 100
JSON = "application/json"

RESOURCE_NOT_FOUND = -32002
"""The error code in revisions before 2026-07-28; later ones use INVALID_PARAMS."""


class Resources:
    """Lists and reads the resources of the project of the request."""

    def __init__(self, calls: Calls, offers: Offers) -> None:
        self._calls = calls
        self._pages = {page.uri: page for page in offers.pages}
        self._patterns = [
            (UriTemplate.parse(pattern.uri_template), pattern) for pattern in offers.patterns
        ]

    async def list_all(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        """Return a page of the project's entries; the first page begins with the help pages."""
        cursor = params.cursor if params else None
        page = {"size": PAGE_SIZE} if cursor is None else {"size": PAGE_SIZE, "cursor": cursor}
        answer = msgspec.json.decode(await self._calls.ask(context, "listEntries", {"page": page}))
        entries = [_entry_resource(item) for item in answer["items"]]
        pages = [] if cursor is not None else [*_graph_resources(context), *self._page_resources()]
        return ListResourcesResult(resources=pages + entries, next_cursor=answer["nextCursor"])

    async def list_templates(
        self, context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """Return the URI templates of entries and lists."""
        project = project_of(context)
        own = [
            ResourceTemplate(
                name="entry",
                title="An entry, by its id",
                uri_template=entry_template(project),
                mime_type=JSON,
            ),
            ResourceTemplate(
                name="entries",
                title="The newest entries with a tag or of a kind",
                uri_template=list_template(project),
                mime_type=JSON,
            ),
        ]
        return ListResourceTemplatesResult(
            resource_templates=own + [_template(pattern) for _, pattern in self._patterns]
        )

    async def read(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """Return the content of a resource."""
        uri = params.uri
        page = self._pages.get(uri)
        if page is not None:
            return _read_result(uri, page.mime_type, page.read())
        for template, pattern in self._patterns:
            found = template.match(uri)
            if found is not None:
                arguments = {name: str(value) for name, value in found.items()}
                return _read_result(uri, pattern.mime_type, pattern.read(arguments))
        if uri == KNOWLEDGE_GRAPH and _has_graph(context):
            graph = msgspec.json.decode(await self._calls.ask(context, "read_graph", {}))
            return _read_result(uri, JSON, graph["text"])
        content = await self._read_memory(context, uri)
        return _read_result(uri, JSON, content.decode())

    async def _read_memory(self, context: Context, uri: str) -> bytes:
        project = project_of(context)
        match read_address(uri):
            case EntryAddress(of, entry_id):
                # It may be in the shared store: the gate checks whether the caller may read it.
                if entry_id.partition(":")[0].casefold() == of.casefold():
                    return await self._read_entry(context, uri, entry_id)
            case ListAddress(of, wanted) if of.casefold() == project.casefold():
                named = {f"{name}s": [value] for name, value in wanted.items()}
                request = {"filter": named, "page": {"size": PAGE_SIZE}}
                return await self._calls.ask(context, "listEntries", request)
        raise not_found(context, uri)

    async def _read_entry(self, context: Context, uri: str, entry_id: str) -> bytes:
        try:
            return await self._calls.ask(context, "getEntry", {"id": entry_id})
        except MCPError as error:
            if error.data and error.data.get("code") == "notFound":
                raise not_found(context, uri) from None
            raise

    def _page_resources(self) -> list[Resource]:
        return [
            Resource(
                uri=page.uri,
                name=page.name,
                title=page.title,
                description=page.description,
                mime_type=page.mime_type,
            )
            for page in self._pages.values()
        ]


def _has_graph(context: Context) -> bool:
    return "serverMemory" in toolsets_of(context)


def _graph_resources(context: Context) -> list[Resource]:
    if not _has_graph(context):
        return []
    graph = Resource(
        uri=KNOWLEDGE_GRAPH,
        name="knowledge-graph",
        title="Knowledge Graph",
        description="The knowledge graph with all entities and relations; see read_graph",
        mime_type=JSON,
    )
    return [graph]


def not_found(context: Context, uri: str) -> MCPError:
    """Return the same error for an unknown resource and for one that the caller may not read."""
    is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    code = INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
    return MCPError(code, "Resource not found", {"uri": uri})


def _entry_resource(item: dict[str, Any]) -> Resource:
    return Resource(
        uri=address_of(item["id"]),
        name=item["id"],
        title=item["title"],
        description=f"A {item['curationTier']} entry of kind {item['kind']}",
        mime_type=JSON,
        annotations=Annotations(last_modified=item["updatedUtc"]),
    )


def _template(pattern: PagePattern) -> ResourceTemplate:
    return ResourceTemplate(
        name=pattern.name,
        title=pattern.title,
        description=pattern.description,
        uri_template=pattern.uri_template,
        mime_type=pattern.mime_type,
    )


def _read_result(uri: str, mime_type: str, content: Content) -> ReadResourceResult:
    part: TextResourceContents | BlobResourceContents
    if isinstance(content, bytes):
        blob = base64.b64encode(content).decode()
        part = BlobResourceContents(uri=uri, mime_type=mime_type, blob=blob)
    else:
        part = TextResourceContents(uri=uri, mime_type=mime_type, text=content)
    return ReadResourceResult(contents=[part])
