"""`Remote`: runs commands on a running server, over HTTP."""

import http.client
import re
import ssl
from collections.abc import Iterator
from copy import copy
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from qms.cli.routes import ADMINISTRATION, MAINTAINS, MAINTENANCE
from qms.config.api_keys import PLAIN_KEY
from qms.memory.errors import NotAuthenticatedError, QmsError, UnavailableError, invalid

TIMEOUT_S = 120.0
"""How long an answer may take: the server may still be loading a store."""

CONNECT_S = 5.0
"""How long a server may take to accept a connection."""

MCP_REVISION = "2026-07-28"
"""The revision of MCP that needs no session."""

_MCP_META = "io.modelcontextprotocol/"
_ERRORS = {error.code: error for error in QmsError.__subclasses__()}
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not listened on
_UNHEALTHY = 503
_PARAMETER = re.compile(r"\{(\w+)\}")
_API = "/api/v1/{project}/"


class Remote:
    """One HTTP connection to a server, kept alive between commands."""

    keeps_cursors = makes_vectors = True

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        agent_id: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        parts = _split(url)
        self.place = f"server {url}"
        self._url = url
        self._base = parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {_checked_key(key, url)}"}
        if agent_id is not None:
            self._headers["X-Agent-Id"] = agent_id
        self._timeout_s = timeout_s
        self._connection = _connection(parts, timeout_s)
        self._routes = dict(ADMINISTRATION)

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Post one command; maintenance commands go to their administration route."""
        place = MAINTENANCE if command in MAINTAINS else _API
        path = place.replace("{project}", quote(project, safe=""))
        status, answer = self._request("POST", path + quote(command, safe=""), body)
        if status != http.client.OK:
            raise _error(answer, status, self._url)
        return answer

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Send one administration command to its route."""
        method, template = self._routes[command]
        rest = dict(arguments)
        path = _PARAMETER.sub(lambda found: _taken(rest, found[1]), template)
        has_body = method not in ("GET", "DELETE")
        query = urlencode({name: value for name, value in rest.items() if value is not None})
        status, answer = self._request(
            method,
            path if has_body or not query else f"{path}?{query}",
            msgspec.json.encode(rest) if has_body else None,
        )
        if status != http.client.OK:
            raise _error(answer, status, self._url)
        return answer

    def is_administration(self, command: str) -> bool:
        """Return whether a command administers the server; a new one is found in its API page."""
        if command not in self._routes and command not in MAINTAINS:
            self._routes = dict(self._described_routes()) | self._routes
        return command in self._routes

    def projects(self) -> list[str]:
        """Return the projects in the server's health report."""
        status, answer = self._request("GET", "/health")
        stores = answer.get("stores") if isinstance(answer, dict) else None
        if status not in (http.client.OK, _UNHEALTHY) or not isinstance(stores, list):
            raise _error(answer, status, self._url)
        return [store["name"] for store in stores]

    def speak(
        self, project: str, method: str, params: dict[str, Any], *, toolsets: str = ""
    ) -> dict[str, Any]:
        """Send one MCP request to a project, by default with its own toolsets; return its result.

        Raises:
            QmsError: the server refuses it, or the answer is not MCP.
        """
        meta = {f"{_MCP_META}protocolVersion": MCP_REVISION, f"{_MCP_META}clientCapabilities": {}}
        message = {"jsonrpc": "2.0", "id": 1, "method": method}
        body = msgspec.json.encode({**message, "params": {**params, "_meta": meta}})
        headers = {
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": MCP_REVISION,
            "Mcp-Method": method,
        }
        if "name" in params:
            headers["Mcp-Name"] = params["name"]
        path = f"/mcp/{quote(project, safe='')}" + (f"?toolsets={toolsets}" if toolsets else "")
        status, answer = self._request("POST", path, body, headers)
        match answer:
            case {"result": dict(result)} if status == http.client.OK:
                return result
            case {"error": {"code": int(code), "message": str(text)}}:
                raise UnavailableError(f"MCP at {self._url}{path}: {text} ({code})")
            case _:
                raise _error(answer, status, self._url)

    def load(self) -> None:
        """Do nothing: a server loads its stores by itself."""

    def work_on(self) -> None:
        """Do nothing: a server does its background work by itself."""

    def for_thread(self) -> "Remote":
        """Return a second connection to the same server."""
        made = copy(self)
        made._connection = _connection(_split(self._url), self._timeout_s)  # noqa: SLF001 - its own
        return made

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _described_routes(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yield the routes of the administration from the server's OpenAPI document."""
        status, answer = self._request("GET", "/openapi.json")
        if status != http.client.OK:
            raise _error(answer, status, self._url)
        for path, methods in answer["paths"].items():
            for method, operation in methods.items():
                if path.startswith("/admin/") and not path.startswith(MAINTENANCE):
                    yield operation["operationId"], (method.upper(), path)

    def _request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        more_headers: dict[str, str] | None = None,
    ) -> tuple[int, Any]:
        headers = self._headers | ({"Content-Type": "application/json"} if body else {})
        headers |= more_headers or {}
        try:
            self._connection.request(method, self._base + path, body, headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise _no_answer(self._url, error) from error
        try:
            if response.headers.get_content_type() == "text/plain":
                return response.status, content.decode()
            return response.status, msgspec.json.decode(content)
        except ValueError:
            raise _not_our_server(self._url, response.status) from None


def _taken(arguments: dict[str, Any], name: str) -> str:
    """Take the argument that stands in the path of a route."""
    if name not in arguments:
        raise invalid(name, "is required")
    return quote(str(arguments.pop(name)), safe="")


def reachable(url: str) -> str:
    """Return the URL to connect to, for a URL that a server listens on."""
    parts = _split(url)
    host = _LOOPBACK_OF.get(parts.hostname or "")
    if host is None:
        return url
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port is None else f":{parts.port}"
    return parts._replace(netloc=shown + port).geturl()


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_whole = is_whole and parts.port != 0 and not (parts.query or parts.fragment)
    except ValueError:
        is_whole = False
    if not is_whole or "@" in parts.netloc:
        raise invalid("url", "must look like http://127.0.0.1:5080, without key, query or fragment")
    return parts


def check_listens(url: str) -> None:
    """Check that a server accepts connections.

    Raises:
        UnavailableError: it does not.
    """
    connection = _connection(_split(url), CONNECT_S)
    try:
        connection.connect()
    except OSError as error:
        raise _no_answer(url, error) from error
    finally:
        connection.close()


def _checked_key(key: str | None, url: str) -> str:
    if key and PLAIN_KEY.fullmatch(key):
        return key
    check_listens(url)
    problem = "requires a key" if not key else "cannot accept this key: it has invalid characters"
    raise with_key_hints(NotAuthenticatedError(f"the server at {url} {problem}"))


def with_key_hints(error: NotAuthenticatedError) -> NotAuthenticatedError:
    """Add hints about keys to an error."""
    error.add_note("set QMS_KEY, or pass --key")
    error.add_note("lost your key? run `memoryctl keys create USER` on the server's machine")
    return error


def _connection(parts: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    assert parts.hostname is not None
    host = _LOOPBACK_OF.get(parts.hostname, parts.hostname)
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=timeout_s)
    return http.client.HTTPSConnection(
        host, parts.port, timeout=timeout_s, context=ssl.create_default_context()
    )


def _error(answer: Any, status: int, url: str) -> QmsError:
    match answer:
        case {"error": {"code": str(code), "message": str(message), "details": dict(details)}}:
            # A code without a class is an HTTP error: method, media type or host.
            error = _ERRORS[code](message) if code in _ERRORS else QmsError(f"{message} ({code})")
            error.details = details
            return with_key_hints(error) if isinstance(error, NotAuthenticatedError) else error
        case _:
            return _not_our_server(url, status)


def _no_answer(url: str, error: Exception) -> UnavailableError:
    if isinstance(error, ConnectionRefusedError):
        unavailable = UnavailableError(f"no server is running at {url}")
    else:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        unavailable = UnavailableError(f"no server answers at {url}: {reason}")
    unavailable.add_note("start it with `qms serve`, or leave out --url and QMS_URL")
    return unavailable


def _not_our_server(url: str, status: int) -> UnavailableError:
    return UnavailableError(f"{url} is not a Quick Memory Server (HTTP status {status})")
