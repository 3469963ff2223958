"""The administration as its clients call it: with a key, or as a browser with a session."""

from typing import Any

import msgspec

from tests.support.asgi import HOST, Answer, AsgiClient
from tests.support.house import Failure, failure, key_of

ORIGIN = f"http://{HOST}"


class Console:
    """One user's way to `/admin`, with its key."""

    def __init__(
        self, client: AsgiClient, user: str | None = "admin", *, agent_id: str | None = None
    ) -> None:
        self._client = client
        self._headers = [("x-api-key", key_of(user))] if user else []
        if agent_id is not None:
            self._headers.append(("x-agent-id", agent_id))

    def send(
        self, method: str, path: str, content: Any = None, *, address: str = "127.0.0.1"
    ) -> Answer:
        """Send a request below `/admin` and return the answer as it is."""
        headers, chunks = list(self._headers), [b""]
        if content is not None:
            headers.append(("content-type", "application/json"))
            chunks = [msgspec.json.encode(content)]
        return self._client.request(
            method, f"/admin{path}", headers=headers, chunks=chunks, address=address
        )

    def __call__(self, method: str, path: str, content: Any = None) -> Any:
        """Send a request that succeeds and return its answer."""
        answer = self.send(method, path, content)
        assert answer.status == 200, answer.body[:500]
        return answer.json

    def fails(self, method: str, path: str, content: Any = None) -> Failure:
        """Send a request that is refused and return why."""
        return failure(self.send(method, path, content))


class Browser(Console):
    """A browser that is signed in; what it sends can be bent by the test."""

    def __init__(self, client: AsgiClient, *, key: str | None = None, setup: str = "") -> None:
        super().__init__(client, user=None)
        wanted = {"setup": setup} if setup else {"key": key or key_of("admin")}
        self.signed_in = self.send("POST", "/session", wanted)
        self.origin: str | None = ORIGIN
        self.token: str | None = None
        self.is_unattended = False
        self.cookie = ""
        if self.signed_in.status == 200:
            self.token = self.signed_in.json["csrfToken"]
            self.cookie = self.signed_in.headers["set-cookie"].partition(";")[0]

    def send(
        self, method: str, path: str, content: Any = None, *, address: str = "127.0.0.1"
    ) -> Answer:
        """Send a request as a page of this browser would."""
        self._headers = self.headers() if hasattr(self, "cookie") else []
        return super().send(method, path, content, address=address)

    def headers(self) -> list[tuple[str, str]]:
        """Return the headers that the session adds to a request."""
        given = {
            "cookie": self.cookie,
            "origin": self.origin,
            "x-csrf-token": self.token,
            "x-unattended": "1" if self.is_unattended else None,
        }
        return [(name, value) for name, value in given.items() if value]

    def api(self, project: str, command: str, **request: Any) -> Answer:
        """Call a command of a project with the session."""
        headers = [*self.headers(), ("content-type", "application/json")]
        body = msgspec.json.encode(request)
        return self._client.request(
            "POST", f"/api/v1/{project}/{command}", headers=headers, chunks=[body]
        )
