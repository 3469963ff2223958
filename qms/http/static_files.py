"""Files of the admin page, compressed once, with caching headers.

Only files found at the start are served: a request is looked up among their names and never
becomes a path.
"""

import gzip
import hashlib
import mimetypes
from functools import cached_property
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from qms.http.errors import Handler, answers_errors
from qms.http.help import knows
from qms.resources import find_resource

FOLDER = "spa"
PAGE = "index.html"
SERVED = frozenset({".css", ".html", ".js", ".svg"})
"""Other files of the folder are for development only."""

REVALIDATED = "no-cache"
IMMUTABLE = "public, max-age=31536000, immutable"
"""For third-party files: each has its version in its name."""

_VENDORED = "vendor/"
_TEXT_TYPES = {".js": "text/javascript"}  # some systems register another type


class PageFile:
    """One file, read and compressed on first request."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._caching = IMMUTABLE if name.startswith(_VENDORED) else REVALIDATED
        self._media_type = _TEXT_TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]

    @cached_property
    def _content(self) -> bytes:
        return self._path.read_bytes()

    @cached_property
    def _compressed(self) -> bytes:
        return gzip.compress(self._content, mtime=0)

    @cached_property
    def _etag(self) -> str:
        return f'"{hashlib.sha256(self._content).hexdigest()[:16]}"'

    def answer(self, request: Request) -> Response:
        """Return the file, compressed if the client accepts gzip, or 304 if it is unchanged."""
        headers = {
            "etag": self._etag,
            "cache-control": self._caching,
            "vary": "Accept-Encoding",
        }
        if knows(request.headers.get("if-none-match", ""), self._etag):
            return Response(status_code=304, headers=headers)
        content = self._content
        if _takes_gzip(request.headers.get("accept-encoding", "")):
            content = self._compressed
            headers["content-encoding"] = "gzip"
        return Response(content, headers=headers, media_type=self._media_type)


def page_routes(folder: Path | None = None) -> list[Route]:
    """Return the routes of the page and its files."""
    files = _files(folder or find_resource(FOLDER))
    return [
        Route("/", _page(files), methods=["GET"]),
        Route("/static/{name:path}", _static(files), methods=["GET"]),
    ]


def _files(folder: Path) -> dict[str, PageFile]:
    names = (path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")))
    return {
        name: PageFile(folder / name, name)
        for name in names
        if Path(name).suffix in SERVED and (folder / name).is_file()
    }


def _page(files: dict[str, PageFile]) -> Handler:
    @answers_errors
    async def page(request: Request) -> Response:
        return files[PAGE].answer(request)

    return page


def _static(files: dict[str, PageFile]) -> Handler:
    @answers_errors
    async def static(request: Request) -> Response:
        found = files.get(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return found.answer(request)

    return static


def _takes_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False
