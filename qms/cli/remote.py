"""memoryctl on a running server, over HTTP."""

import http.client
import re
import ssl
from typing import Any
from urllib.parse import SplitResult, quote, urlencode, urlsplit

import msgspec

from qms.config.keys import PLAIN_KEY
from qms.domain.errors import NotAuthenticatedError, QmsError, UnavailableError, invalid
from qms.service.admin.table import ADMIN_TABLE

TIMEOUT_S = 120.0
"""How long an answer may take: a store that is still loading is waited for."""

MCP_REVISION = "2026-07-28"
"""The revision of MCP that needs no session."""

_MCP_META = "io.modelcontextprotocol/"
_ERRORS = {error.code: error for error in QmsError.__subclasses__()}
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - read, not listened on
_UNHEALTHY = 503
_PARAMETER = re.compile(r"\{(\w+)\}")
_ROUTES = {row.name: row.route for row in ADMIN_TABLE if row.route is not None}


class Remote:
    """One connection to a server, kept alive between commands."""

    keeps_cursors = True

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
        self._connection = _connection(parts, timeout_s)

    def send(self, project: str, command: str, body: bytes) -> Any:
        """Post one command."""
        path = f"/api/v1/{quote(project, safe='')}/{quote(command, safe='')}"
        status, answer = self._request("POST", path, body)
        if status != http.client.OK:
            raise _error(answer, status, self._url)
        return answer

    def administer(self, command: str, arguments: dict[str, Any]) -> Any:
        """Send one command of the administration to its address."""
        route = _ROUTES[command]
        rest = dict(arguments)
        path = _PARAMETER.sub(lambda found: quote(rest.pop(found[1]), safe=""), route.path)
        has_body = route.method not in ("GET", "DELETE")
        query = urlencode({name: value for name, value in rest.items() if value is not None})
        status, answer = self._request(
            route.method,
            path if has_body or not query else f"{path}?{query}",
            msgspec.json.encode(rest) if has_body else None,
        )
        if status != http.client.OK:
            raise _error(answer, status, self._url)
        return answer

    def projects(self) -> list[str]:
        """Return the stores of the server's report."""
        status, answer = self._request("GET", "/health")
        stores = answer.get("stores") if isinstance(answer, dict) else None
        if status not in (http.client.OK, _UNHEALTHY) or not isinstance(stores, list):
            raise _error(answer, status, self._url)
        return [store["name"] for store in stores]

    def speak(self, project: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request of MCP to a project and return its result.

        Raises:
            QmsError: the server refuses it, or answers something else.
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
        path = f"/mcp/{quote(project, safe='')}"
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
        """Do nothing: a server works by itself."""

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

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
            raise _stranger(self._url, response.status) from None


def reachable(url: str) -> str:
    """Return an address to connect to, of one that a server listens on."""
    parts = _split(url)
    host = _EVERYWHERE.get(parts.hostname or "")
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


def _checked_key(key: str | None, url: str) -> str:
    if key and PLAIN_KEY.fullmatch(key):
        return key
    problem = "asks for a key" if not key else "takes no key with such characters in it"
    error = NotAuthenticatedError(f"the server at {url} {problem}")
    raise with_key_hints(error)


def with_key_hints(error: NotAuthenticatedError) -> NotAuthenticatedError:
    """Return the error with what a person can do about it."""
    error.add_note("set QMS_KEY, or pass --key")
    error.add_note("a lost key: `memoryctl keys create USER` on the server's own machine")
    return error


def _connection(parts: SplitResult, timeout_s: float) -> http.client.HTTPConnection:
    assert parts.hostname is not None
    host = _EVERYWHERE.get(parts.hostname, parts.hostname)
    if parts.scheme == "http":
        return http.client.HTTPConnection(host, parts.port, timeout=timeout_s)
    return http.client.HTTPSConnection(
        host, parts.port, timeout=timeout_s, context=ssl.create_default_context()
    )


def _error(answer: Any, status: int, url: str) -> QmsError:
    match answer:
        case {"error": {"code": str(code), "message": str(message), "details": dict(details)}}:
            # A code without a class is one of HTTP alone: a method, a media type, a host.
            error = _ERRORS[code](message) if code in _ERRORS else QmsError(f"{message} ({code})")
            error.details = details
            return with_key_hints(error) if isinstance(error, NotAuthenticatedError) else error
        case _:
            return _stranger(url, status)


def _no_answer(url: str, error: Exception) -> UnavailableError:
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    unavailable = UnavailableError(f"no server answers at {url}: {reason}")
    unavailable.add_note("start it with `qms serve`, or leave out --url and QMS_URL")
    return unavailable


def _stranger(url: str, status: int) -> UnavailableError:
    return UnavailableError(f"{url} does not answer like a Quick Memory Server (status {status})")
