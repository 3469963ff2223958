"""A language model's endpoint that follows a script: on 127.0.0.1, with every bad habit."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec

Step = str | int | bytes | dict[str, Any]
"""The text of an answer, a status, a whole body, or an order: `hang`, `drip`, `redirect`, `cut`."""


class Endpoint:
    """What was asked, and what will be answered: the last step stays."""

    def __init__(self) -> None:
        self.url = ""
        self.script: list[Step] = [500]
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.is_ending = threading.Event()

    def next_step(self) -> Step:
        """Return what to do now."""
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]

    @property
    def texts(self) -> list[str]:
        """Return what the user's messages said."""
        return [request["messages"][1]["content"] for request in self.requests]


def completion(text: Any) -> bytes:
    """Return the body that an OpenAI-compatible endpoint answers with."""
    return msgspec.json.encode(
        {"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
    )


@contextmanager
def chat_endpoint() -> Iterator[Endpoint]:
    """Yield an endpoint that answers until the block ends."""
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            endpoint.requests.append(msgspec.json.decode(body))
            endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
            endpoint.paths.append(self.path)
            _follow(self, endpoint, endpoint.next_step())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = False
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.is_ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _follow(handler: BaseHTTPRequestHandler, endpoint: Endpoint, step: Step) -> None:
    try:
        match step:
            case int():
                _send(handler, b"{}", status=step)
            case str():
                _send(handler, completion(step))
            case bytes():
                _send(handler, step)
            case {"redirect": str(target)}:
                _send(handler, b"", status=307, location=target)
            case {"cut": True}:
                _send(handler, completion("half")[:-20], length=len(completion("half")))
            case {"hang": True}:
                endpoint.is_ending.wait()
            case {"drip": True}:
                _drip(handler, endpoint)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the client has had enough, which is what is tested


def _send(
    handler: BaseHTTPRequestHandler,
    body: bytes,
    *,
    status: int = 200,
    location: str = "",
    length: int | None = None,
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    if location:
        handler.send_header("Location", location)
    handler.end_headers()
    handler.wfile.write(body)


def _drip(handler: BaseHTTPRequestHandler, endpoint: Endpoint) -> None:
    """Send a byte now and then, so that no single read takes too long."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not endpoint.is_ending.wait(0.01):
        handler.wfile.write(b" ")
        handler.wfile.flush()
