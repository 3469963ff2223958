"""Help and schema, open to everybody: what a client reads before it has a key."""

import hashlib
from collections.abc import Callable
from functools import cache

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.api.errors import Handler, answers_errors
from qms.api.openapi import openapi_document
from qms.service.admin.table import ADMIN_TABLE
from qms.service.commands import Services
from qms.service.manual import OPENAPI_URL, PAGE_URLS, SCHEMA_URL, Page, read_page
from qms.service.reference import schema_document

MAX_AGE_SECONDS = 3600


def help_routes(services: Services) -> list[Route]:
    """Return the routes of schema, OpenAPI document and pages, each made when first asked for."""

    def schema() -> bytes:
        return msgspec.json.encode(schema_document(services.commands, services.now))

    def openapi() -> bytes:
        return msgspec.json.encode(openapi_document((*services.commands, *ADMIN_TABLE)))

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
    """Say whether a client that sends this If-None-Match has the document already."""
    known = [one.strip().removeprefix("W/") for one in given.split(",")]
    return "*" in known or etag in known
