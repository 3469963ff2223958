"""Public help pages, entry schema and OpenAPI document; they need no key."""

import hashlib
from collections.abc import Callable
from functools import cache

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.commands.gate import Gate
from qms.features.health.describe import schema_document
from qms.features.health.manual import OPENAPI_URL, PAGE_URLS, SCHEMA_URL, Page, read_page
from qms.http.errors import Handler, answers_errors
from qms.http.openapi import openapi_document

MAX_AGE_SECONDS = 3600


def help_routes(gate: Gate) -> list[Route]:
    """Return the routes of schema, OpenAPI document and pages, each built on first request."""
    offered = [row for row in gate.commands if row.toolset is not None]

    def schema() -> bytes:
        return msgspec.json.encode(schema_document(offered, gate.now))

    def openapi() -> bytes:
        return msgspec.json.encode(openapi_document(gate.commands))

    documents = {
        SCHEMA_URL: _document(schema, "application/schema+json"),
        OPENAPI_URL: _document(openapi, "application/json"),
        **{PAGE_URLS[page]: _document(_page(page), "text/markdown") for page in Page},
    }
    return [Route(path, handler, methods=["GET"]) for path, handler in documents.items()]


def _page(page: Page) -> Callable[[], bytes]:
    return lambda: read_page(page).encode()


def _document(make: Callable[[], bytes], media_type: str) -> Handler:
    """Return the handler of a document that stays the same while the server runs."""
    content = cache(make)

    @answers_errors
    async def answer(request: Request) -> Response:
        etag = f'"{hashlib.sha256(content()).hexdigest()[:16]}"'
        kept = {"etag": etag, "cache-control": f"public, max-age={MAX_AGE_SECONDS}"}
        if knows(request.headers.get("if-none-match", ""), etag):
            return Response(status_code=304, headers=kept)
        return Response(content(), headers=kept, media_type=media_type)

    return answer


def knows(given: str, etag: str) -> bool:
    """Say whether an If-None-Match header matches the document's ETag."""
    known = [one.strip().removeprefix("W/") for one in given.split(",")]
    return "*" in known or etag in known
