"""The service process on Windows: what the manager sees of it, and what it leaves behind."""

import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qms.config.root import LOCK_PLACE
from qms.disk.root_lock import read_owner
from qms.platforms.service_control import ServiceController, ServiceSpec, ServiceState
from qms.version import __version__
from tests.platforms.contract.test_service_contract import ADMIN_KEY, CONFIGURATION

win32service = pytest.importorskip("win32service", reason="services of Windows")

from qms.platforms.windows_service import WAIT_HINT_MS, service_root  # noqa: E402 - so too
from qms.platforms.windows_services import (  # noqa: E402 - only on Windows
    WindowsServiceManager,
    command_line,
    program_of,
    root_of,
)

PROGRAM = (sys.executable, "-m", "qms.platforms.windows_service")
FORMER_PROGRAM = (sys.executable, "-m", "qms.host.windows_service")
"""What earlier versions have registered."""

BOUND_S = 240.0
"""Far beyond what anything here takes, also on a busy machine."""


class Watched(WindowsServiceManager):
    """A service under test, with what Windows knows of it in every look."""

    def values(self) -> Any:
        with self._opened(win32service.SERVICE_QUERY_STATUS) as service:
            return win32service.QueryServiceStatusEx(service)

    def seen_until(self, state: int) -> list[dict[str, int]]:
        """Return each different look from now on, up to the one in which it has arrived."""
        never = threading.Event()
        end = time.monotonic() + BOUND_S
        looks: list[dict[str, int]] = []
        while not looks or looks[-1]["CurrentState"] != state:
            assert time.monotonic() < end, looks
            if (look := self.values()) not in looks[-1:]:
                looks.append(look)
            never.wait(0.05)
        return looks


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Watched]:
    root = tmp_path / "root"
    root.mkdir()
    (root / "QuickMemoryServer.toml").write_text(CONFIGURATION, encoding="utf-8")
    watched = Watched("QuickMemoryServerWatched", "Quick Memory Server, watched")
    controller = ServiceController(watched)
    controller.install(ServiceSpec(root=root, executable=PROGRAM))
    yield watched
    controller.uninstall()


def called(root: Path, command: str, request: dict[str, Any]) -> Any:
    owner = read_owner(root / LOCK_PLACE)
    assert owner is not None
    sent = urllib.request.Request(
        f"{owner.url}/api/v1/shared/{command}",
        json.dumps(request).encode(),
        {"Content-Type": "application/json", "X-Api-Key": ADMIN_KEY},
    )
    with urllib.request.urlopen(sent, timeout=BOUND_S) as answer:
        return json.load(answer)


def test_it_is_pending_with_checkpoints_until_its_stores_are_loaded_and_again_until_it_has_folded(
    service: Watched, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    service.begin_start()
    starting = service.seen_until(win32service.SERVICE_RUNNING)
    health = called(root, "health", {})
    written = called(root, "upsertEntry", {"entry": {"kind": "note", "body": "Kept"}})
    service.begin_stop()
    stopping = service.seen_until(win32service.SERVICE_STOPPED)

    pending = [
        look for look in starting if look["CurrentState"] == win32service.SERVICE_START_PENDING
    ]
    assert pending[-1]["WaitHint"] == WAIT_HINT_MS
    assert pending[-1]["CheckPoint"] >= 1
    assert health["status"] != "Loading"
    ending = [look["CheckPoint"] for look in stopping[:-1]]
    assert ending == sorted(ending)
    assert ending[-1] > pending[-1]["CheckPoint"]
    assert stopping[-1]["Win32ExitCode"] == 0
    store = root / "MemoryStores" / "shared"
    lines = (store / "entries.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["id"] for line in lines] == [written["id"]]
    assert (store / ".qms" / "journal.wal").stat().st_size <= 8


def test_a_root_that_somebody_owns_is_the_service_s_own_exit_code(
    service: Watched, tmp_path: Path
) -> None:
    owner = subprocess.Popen(
        [*PROGRAM, "serve", "--root", str(tmp_path / "root")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline().startswith("listening: ")
        service.begin_start()
        looks = service.seen_until(win32service.SERVICE_STOPPED)
    finally:
        owner.kill()
        owner.communicate()

    status = ServiceController(service).status()
    assert looks[-1]["ServiceSpecificExitCode"] == 5
    assert status.state is ServiceState.FAILED
    assert "another process owns the root" in status.explanation


@pytest.mark.parametrize(
    "root", [r"C:\data", r"C:\Program Files\Quick Memory", "\\\\host\\share\\a b", r"D:\a --root b"]
)
def test_a_command_line_gives_its_root_back(root: str) -> None:
    spec = ServiceSpec(root=Path(root), executable=(r"C:\Program Files\Q\Quick.exe",))

    line = command_line(spec)

    assert line.startswith('"C:\\Program Files\\Q\\Quick.exe" --root ')
    assert root_of(line) == root
    assert program_of(line) == r"C:\Program Files\Q\Quick.exe"


def test_the_root_is_that_of_the_command_line_and_never_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QMS_ROOT", r"C:\wrong")

    assert service_root(["--root", r"D:\data"]) == Path(r"D:\data")
    assert service_root([]) != Path(r"C:\wrong")


@pytest.mark.parametrize("program", [PROGRAM, FORMER_PROGRAM])
def test_a_person_who_runs_the_program_of_the_service_gets_qms(program: tuple[str, ...]) -> None:
    done = subprocess.run(
        [*program, "--version"], capture_output=True, encoding="utf-8", check=False
    )
    refused = subprocess.run(
        [*program, "nonsense"], capture_output=True, encoding="utf-8", check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, f"qms, version {__version__}")
    assert refused.returncode == 2
    assert "nonsense" in refused.stderr
