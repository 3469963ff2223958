"""memoryctl as a person calls it, on a running server and on the files of a stopped one."""

import json
from collections.abc import Iterator
from contextlib import chdir, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.cli.program import run
from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from tests.support.environment import Environment, standard_input
from tests.support.running import RunningServer
from tests.support.waiting import eventually

VARIABLES = ("QMS_URL", "QMS_KEY", "QMS_ROOT", "VISUAL", "EDITOR", "NO_COLOR", "QMS_DEBUG")


class Result(msgspec.Struct, frozen=True):
    """What one command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return standard output as a JSON value."""
        return json.loads(self.out)

    @property
    def line(self) -> str:
        """Return the one line of standard output."""
        (line,) = self.out.splitlines()
        return line


class Terminal:
    """A root, its first key, and a command line in front of it."""

    def __init__(self, root: Path, key: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.key = key
        self.server: RunningServer | None = None
        self._capsys = capsys

    def __call__(self, *words: str, typed: bytes | None = None) -> Result:
        """Run a command line, whatever comes of it; it reads what is typed, if it is given."""
        self._capsys.readouterr()
        with nullcontext() if typed is None else standard_input(typed):
            code = run(words)
        out, err = self._capsys.readouterr()
        return Result(code, out, err)

    def ok(self, *words: str, typed: bytes | None = None) -> Result:
        """Run a command line that succeeds."""
        result = self(*words, typed=typed)
        assert result.code == 0, result.err
        return result

    def remember(self, text: str, *words: str, typed: bytes | None = None) -> str:
        """Store a memory and return its id."""
        return self.ok("remember", text, *words, typed=typed).line

    def start(self) -> RunningServer:
        """Start a server on the root and wait until every store and the model are loaded."""
        server = self.server = RunningServer(self.root, self.key)
        eventually(lambda: server.status() != "Loading")
        return server

    def stop(self) -> None:
        """Stop the server, if there is one."""
        if self.server is not None:
            self.server.stop()
            self.server = None

    def api(self, project: str, command: str, /, **request: Any) -> Any:
        """Return what the HTTP API answers, from a server started for that if need be."""
        is_own = self.server is None
        server = self.server or self.start()
        try:
            return server.call(project, command, **request)
        finally:
            if is_own:
                self.stop()

    def entries_file(self, project: str = "default") -> Path:
        """Return the file that people edit."""
        folder = self.root / "MemoryStores" / project
        folder.mkdir(parents=True, exist_ok=True)
        return folder / "entries.jsonl"

    def allow(self, *toolsets: str) -> None:
        """Have the project `default` allow these toolsets to keys, and no others."""
        slug, named = 'slug = "default"\n', json.dumps(toolsets)
        self.edit_settings(slug, f"{slug}toolsets = {named}\n")

    def edit_settings(self, old: str, new: str) -> None:
        """Change the configuration while nothing runs; a server is started again."""
        is_served = self.server is not None
        self.stop()
        path = self.root / "QuickMemoryServer.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        if is_served:
            self.start()


@pytest.fixture
def files(
    tmp_path: Path, environment: Environment, capsys: pytest.CaptureFixture[str]
) -> Iterator[Terminal]:
    """A root without a server."""
    root, work = tmp_path / "root", tmp_path / "work"
    work.mkdir()
    key = Configuration(root / "QuickMemoryServer.toml", Disk(), lambda: datetime.now(UTC)).load()
    assert key is not None
    for name in VARIABLES:
        environment.pop(name, None)
    environment["QMS_ROOT"] = str(root)
    environment["QMS_KEY"] = key
    environment["COLUMNS"] = "100"
    terminal = Terminal(root, key, capsys)
    with chdir(work):
        yield terminal
        terminal.stop()


@pytest.fixture
def server(files: Terminal) -> Terminal:
    """A root with a server that answers."""
    files.start()
    return files


@pytest.fixture(params=["server", "files"])
def ctl(request: pytest.FixtureRequest, files: Terminal) -> Terminal:
    """Both, one after the other."""
    if request.param == "server":
        files.start()
    return files
