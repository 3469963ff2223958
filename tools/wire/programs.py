"""The programs of a checkout: `memoryctl` and `qms` called once, and a server that runs."""

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

START_LIMIT_S = 60
STOP_LIMIT_S = 60
CALL_LIMIT_S = 120
COLUMNS = 100
FILES = ("stdin", "stdout", "stderr", "modules")


@dataclass(frozen=True)
class Ended:
    """What a program left behind."""

    code: int
    stdout: str
    stderr: str


def environment(home: Path) -> dict[str, str]:
    """Return all that a program inherits: nothing of this machine but where programs are."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "TMPDIR": str(home),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": str(COLUMNS),
        "NO_COLOR": "1",
        "PYTHONHASHSEED": "0",  # what comes out of a set has one order
        "VISUAL": "sed -i s/Friday/Saturday/",
        "OPENBLAS_NUM_THREADS": "1",  # a process that is forked has one thread
    }


class Program:
    """A program of a checkout that is called again and again; a `with` block ends its process."""

    def __init__(self, folder: Path, name: str, home: Path) -> None:
        """Load it out of the folder of programs; `home` is where it is called."""
        self.script = folder / name
        self._home = home
        self.environment = environment(home)
        self._process: subprocess.Popen[str] | None = None
        if hasattr(os, "fork"):
            self._process = subprocess.Popen(
                [folder / "python", Path(__file__).with_name("preloaded.py"), self.script],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                env=self.environment,
            )

    def __enter__(self) -> "Program":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def call(
        self,
        arguments: Sequence[str],
        *,
        stdin: str = "",
        variables: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Ended:
        """Call the program and return what it left behind."""
        inherited = self.environment | dict(variables or {})
        if self._process is None:
            return self._call_anew(arguments, stdin, inherited, folder or self._home)
        with tempfile.TemporaryDirectory() as name:
            files = {one: Path(name) / one for one in FILES}
            for one in files.values():
                one.write_text("", encoding="utf-8")
            files["stdin"].write_text(stdin, encoding="utf-8")
            call = {
                **{one: str(path) for one, path in files.items()},
                "arguments": list(arguments),
                "environment": inherited,
                "folder": str(folder or self._home),
            }
            code = self._ask(json.dumps(call))
            return Ended(code, _text(files["stdout"]), _text(files["stderr"]))

    def _ask(self, call: str) -> int:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        guard = threading.Timer(CALL_LIMIT_S, self._process.kill)
        guard.start()
        try:
            print(call, file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
        finally:
            guard.cancel()
        if not answer.strip():
            raise RuntimeError(f"{self.script.name} did not answer: {call}")
        return int(answer)

    def _call_anew(
        self, arguments: Sequence[str], stdin: str, inherited: Mapping[str, str], folder: Path
    ) -> Ended:
        done = subprocess.run(
            [self.script, *arguments],
            input=stdin.encode(),
            capture_output=True,
            env=dict(inherited),
            cwd=folder,
            timeout=CALL_LIMIT_S,
            check=False,
        )
        return Ended(done.returncode, _decoded(done.stdout), _decoded(done.stderr))


class Server:
    """A `qms serve` on a free port; a `with` block ends it."""

    def __init__(self, folder: Path, root: Path, home: Path) -> None:
        """Start it on a root that has a configuration."""
        self.root = root
        self.lines: list[str] = []
        self.url = ""
        self._since = 0.0
        self._errors = root.with_name(f"{root.name}.stderr")
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [folder / "qms", "serve", "--root", root, "--port", "0"],
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                env=environment(home),
            )

    def __enter__(self) -> "Server":
        guard = threading.Timer(START_LIMIT_S, self._process.kill)
        guard.start()
        try:
            self._wait_until_it_listens()
        finally:
            guard.cancel()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return int(self.url.rpartition(":")[2])

    @property
    def errors(self) -> str:
        """Return what it has written to standard error."""
        return _text(self._errors)

    def wait_for_age(self, seconds: float) -> None:
        """Return once it has been listening for so long."""
        time.sleep(max(0.0, self._since + seconds - time.monotonic()))

    def stop(self) -> int:
        """Stop it as a service manager does, and return the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOP_LIMIT_S)

    def _wait_until_it_listens(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
            if line.startswith("listening: "):
                self.url = line.split()[-1]
                self._since = time.monotonic()
                return
        raise RuntimeError(f"the server did not listen: {self.lines} {self.errors}")


def _text(path: Path) -> str:
    return _decoded(path.read_bytes())


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
