"""Client of an OpenAI-compatible chat endpoint, with limits on time and size.

Redirects are not followed, so that the key is sent only to the host of the settings. A timer ends
the whole exchange: a timeout per read would let an endpoint answer one byte a second.
"""

import http.client
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socket import SHUT_RDWR, socket
from urllib.parse import urlsplit

import msgspec

from qms.memory.errors import UnavailableError

MAX_ANSWER_BYTES = 1 << 20
MAX_ANSWER_TOKENS = 1024
MAX_TEXT_CHARACTERS = 24_000
"""At most this much of a text is sent: small models accept no more."""


class _Message(msgspec.Struct):
    content: str


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


class ChatClient:
    """One endpoint and one model; thread-safe, with a new connection for each request."""

    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, timeout_s: float = 20.0
    ) -> None:
        self.model_id = model
        self._parts = urlsplit(base_url)
        self._api_key = api_key
        self._timeout_s = timeout_s

    def complete(self, instructions: str, text: str) -> str:
        """Return the answer of the model.

        Raises:
            UnavailableError: there is no usable answer in time.
        """
        body = msgspec.json.encode(
            {
                "model": self.model_id,
                "messages": [
                    {"role": "system", "content": instructions},
                    {"role": "user", "content": _sendable(text[:MAX_TEXT_CHARACTERS])},
                ],
                "temperature": 0,
                "max_tokens": MAX_ANSWER_TOKENS,
                "stream": False,
            }
        )
        status, answer = self._post(body)
        if status != http.client.OK:
            raise UnavailableError(f"the language model answered with status {status}")
        try:
            return msgspec.json.decode(answer, type=_Completion).choices[0].message.content
        except (ValueError, IndexError, RecursionError):
            raise UnavailableError(
                "the answer of the language model is not a chat completion"
            ) from None

    def _post(self, body: bytes) -> tuple[int, bytes]:
        deadline = time.monotonic() + self._timeout_s
        connection = self._connection()
        try:
            connection.connect()
            with _ended_at(deadline, connection.sock) as is_over:
                try:
                    return self._exchange(connection, body)
                finally:
                    # What a closed socket returns or raises depends on the state of the reader.
                    if is_over():
                        raise TimeoutError
        except TimeoutError:
            raise UnavailableError(
                f"the language model did not answer within {self._timeout_s:g} s"
            ) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            name = getattr(error, "strerror", None) or type(error).__name__
            raise UnavailableError(f"the language model cannot be reached: {name}") from None
        finally:
            connection.close()

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        path = self._parts.path.rstrip("/") + "/chat/completions"
        connection.request("POST", path, body, headers)
        response = connection.getresponse()
        if response.status != http.client.OK:
            return response.status, b""
        answer = response.read(MAX_ANSWER_BYTES + 1)
        if len(answer) > MAX_ANSWER_BYTES:
            raise UnavailableError(
                f"the answer of the language model is larger than {MAX_ANSWER_BYTES >> 20} MB"
            )
        return response.status, answer

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        return http.client.HTTPSConnection(
            host, port, timeout=self._timeout_s, context=ssl.create_default_context()
        )


@contextmanager
def _ended_at(deadline: float, connected: socket) -> Iterator[Callable[[], bool]]:
    """Shut a socket down at the deadline; yield a function that says whether it was."""
    over = threading.Event()

    def end() -> None:
        over.set()
        with suppress(OSError):
            # Not the method of a TLS socket, which must not be called from another thread.
            socket.shutdown(connected, SHUT_RDWR)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), end)
    timer.daemon = True
    timer.start()
    try:
        yield over.is_set
    finally:
        timer.cancel()


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
