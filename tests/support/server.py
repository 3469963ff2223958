"""A real `qms serve` in a process of its own, for tests of the whole."""

import http.client
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.support.asgi import Answer
from tests.support.house import CONFIGURATION, Failure, failure, key_of

START_LIMIT_S = 60
STOP_LIMIT_S = 30

ADMIN_KEY = key_of("admin")


def configured(root: Path, text: str = CONFIGURATION) -> Path:
    """Return a root with a configuration, so that its first run is over."""
    root.mkdir(exist_ok=True)
    (root / "QuickMemoryServer.toml").write_text(text, encoding="utf-8")
    return root


def store_folder(root: Path, project: str = "projA") -> Path:
    """Return where the files of a project are."""
    return root / "MemoryStores" / project


def refused_server(root: Path) -> subprocess.CompletedProcess[str]:
    """Return how a server ends that is started on a root where it cannot serve."""
    return subprocess.run(
        [sys.executable, "-m", "qms.cli.server", "serve", "--root", str(root), "--port", "0"],
        capture_output=True,
        encoding="utf-8",
        timeout=2 * START_LIMIT_S,
        check=False,
        env=os.environ | {"PYTHONWARNDEFAULTENCODING": "0"},
    )


class ServerProcess:
    """Runs while its `with` block does; `lines` holds what it printed before it listened."""

    def __init__(
        self,
        root: Path,
        *arguments: str,
        key: str = "",
        command: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; `before` is a program that runs it, `environment` all that it inherits."""
        self.root = root
        self.key = key
        self.lines: list[str] = []
        self.url = ""
        usual = ("qms.cli.server", "serve", "--root", str(root), *(arguments or ("--port", "0")))
        self.process = subprocess.Popen(
            [*before, sys.executable, "-m", *(command or usual)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**(environment or os.environ), "PYTHONWARNDEFAULTENCODING": "0"},
            encoding="utf-8",
        )
        self._errors: list[str] = []
        self._reader = threading.Thread(target=self._read_errors, daemon=True)
        self._reader.start()

    def __enter__(self) -> "ServerProcess":
        self.wait_until_listening()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.kill()

    @property
    def errors(self) -> str:
        """Return what the process has written to standard error."""
        return "".join(self._errors)

    def wait_until_listening(self) -> None:
        """Read standard output up to the line that says where the server listens."""
        guard = threading.Timer(START_LIMIT_S, self.process.kill)
        guard.start()
        try:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.lines.append(line.rstrip("\n"))
                if line.startswith("admin key: "):
                    self.key = line.split()[-1]
                if line.startswith("listening: "):
                    self.url = line.split()[-1]
                    return
        finally:
            guard.cancel()
        raise AssertionError(f"the server never listened: {self.lines} {self.errors}")

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the server."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=START_LIMIT_S)

    def call(self, project: str, command: str, /, **request: Any) -> Any:
        """Call a command with the key given or printed, on a connection of its own."""
        with self.client(project) as client:
            return client(command, **request)

    def client(self, project: str = "projA", *, key: str | None = None) -> "Client":
        """Return a client with a kept-alive connection of its own."""
        return Client(self.connect(), self.key if key is None else key, project)

    def store(self, project: str = "projA") -> Any:
        """Return what health says of one store."""
        stores = self.call(project, "health")["stores"]
        return next(store for store in stores if store["name"] == project)

    def status(self) -> tuple[int, Any]:
        """Return what `/health` tells a stranger."""
        connection = self.connect()
        try:
            connection.request("GET", "/health")
            answer = connection.getresponse()
            return answer.status, msgspec.json.decode(answer.read())
        finally:
            connection.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        """Return the exit code once the process has ended by itself."""
        code = self.process.wait(STOP_LIMIT_S)
        self._reader.join()
        return code

    def kill(self) -> None:
        """End the process if it still runs, and close its pipes."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._errors.extend(self.process.stderr)


class Client:
    """One client on one connection that is kept alive; not for several threads at once."""

    def __init__(
        self, connection: http.client.HTTPConnection, key: str, project: str = "projA"
    ) -> None:
        self._connection = connection
        self._key = key
        self.project = project

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._connection.close()

    def send(self, command: str, request: dict[str, Any]) -> Answer:
        """Call a command and return the answer as it is."""
        return self._post(f"/api/v1/{self.project}/{command}", request)

    def care(self, command: str, /, **request: Any) -> Any:
        """Call a command that looks after the store, and return its response."""
        answer = self._post(f"/admin/stores/{self.project}/{command}", request)
        assert answer.status == 200, answer.body[:500]
        return answer.json

    def _post(self, path: str, request: dict[str, Any]) -> Answer:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        self._connection.request("POST", path, msgspec.json.encode(request), headers)
        answer = self._connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read())

    def __call__(self, command: str, /, **request: Any) -> Any:
        """Call a command that succeeds and return its response."""
        answer = self.send(command, request)
        assert answer.status == 200, answer.body[:500]
        return answer.json

    def fails(self, command: str, /, **request: Any) -> Failure:
        """Call a command that is refused and return why."""
        return failure(self.send(command, request))


def call_on(
    connection: http.client.HTTPConnection,
    key: str,
    project: str,
    command: str,
    request: dict[str, Any],
) -> Any:
    """Call a command that succeeds, and return its response."""
    return Client(connection, key, project)(command, **request)
