"""Nothing leaves the machine, and nothing is written outside root and temporary folder."""

from pathlib import Path

import pytest

from tests.server.test_searching import MODEL, fill, first
from tests.support.server import ADMIN_KEY, configured
from tests.support.tracing import (
    TracedServer,
    early_code,
    findings,
    judge,
    silent_environment,
)
from tests.support.waiting import eventually

pytestmark = [pytest.mark.attack(92)]

ALLOWED = (Path("/srv/store"),)

HERE = "AT_FDCWD</srv/store>"
FLOW = "sin6_flowinfo=htonl(0)"

LOUD = [
    'connect(5, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("192.0.2.1")}, 16) = 0',
    'connect(5, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0',
    'connect(5, {sa_family=AF_INET6, sin6_port=htons(9), inet_pton(AF_INET6, "2001:db8::1", &sin6',
    'connect(5, {sa_family=AF_UNIX, sun_path="/var/run/nscd/socket"}, 110) = -1 ENOENT (No such)',
    'sendto(5, "x", 1, 0, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("192.0.2.1")},',
    'bind(5, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("0.0.0.0")}, 16) = 0',
    f'openat({HERE}, "/etc/resolv.conf", O_RDONLY|O_CLOEXEC) = 9</etc/resolv.conf>',
    f'openat({HERE}, "/srv/user/.cache/id", O_RDWR|O_CREAT, 0644) = 9</srv/user/.cache/id>',
    'openat(6</srv/user>, "deviceid.tmp", O_WRONLY|O_CREAT, 0600) = 7</srv/user/deviceid.tmp>',
    f'openat({HERE}, "../elsewhere", O_WRONLY) = -1 EACCES (Permission denied)',
    'mkdir("/srv/user/.cache", 0700) = -1 EEXIST (File exists)',
    'renameat2(AT_FDCWD</>, "/srv/store/a", AT_FDCWD</>, "/srv/b", RENAME_EXCHANGE) = 0',
]

QUIET = [
    'connect(5, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr("127.0.0.1")}, 16) = 0',
    f'bind(5, {{sa_family=AF_INET6, sin6_port=htons(9), {FLOW}, inet_pton(AF_INET6, "::1", &s',
    f'openat({HERE}, "/etc/localtime", O_RDONLY|O_CLOEXEC) = 9</etc/localtime>',
    f'openat({HERE}, "a/b", O_RDWR|O_CREAT, 0600) = 9</srv/store/a/b>',
    f'openat({HERE}, "/dev/null", O_RDWR|O_CLOEXEC) = 9</dev/null>',
    'unlink("/srv/store/a") = -1 ENOENT (No such file or directory)',
    "+++ exited with 0 +++",
]


LOOK_UP = """
import contextlib, socket

with contextlib.suppress(OSError):
    socket.getaddrinfo("telemetry.invalid", 443)
"""


def traced_life(folder: Path, environment: dict[str, str], *, until: str = "") -> list[str]:
    """Start, store, search by meaning, back up and stop; return what the trace gives away.

    With `until` the server stays up until the trace has a finding that contains it.
    """
    root = configured(folder / "root", MODEL)
    traces = folder / "traces"

    def found() -> list[str]:
        return findings(traces, allowed=(root, Path(environment["TMPDIR"])))

    with TracedServer(root, key=ADMIN_KEY, traces=traces, environment=environment) as server:
        fill(server)
        assert first(server, "where does our pet rest?") == "projA:cat"
        made = root / "Backups" / server.call("projA", "backupStore")["backupId"]
        eventually(made.is_dir)
        if until:
            eventually(lambda: any(until in finding for finding in found()))
        assert server.stop() == 0
    return found()


@pytest.mark.needs("strace")
def test_a_server_with_the_model_speaks_to_nobody_and_stays_in_its_root(tmp_path: Path) -> None:
    environment = silent_environment(tmp_path / "home", tmp_path / "temporary")

    assert traced_life(tmp_path, environment) == []
    assert list((tmp_path / "home").rglob("*")) == []
    assert list((tmp_path / "temporary").rglob("*")) == []


@pytest.mark.needs("strace")
def test_the_trace_finds_telemetry_that_was_left_on(tmp_path: Path) -> None:
    environment = silent_environment(tmp_path / "home", tmp_path / "temporary")
    environment["PYTHONPATH"] = early_code(tmp_path / "early", "import onnxruntime\n")

    found = traced_life(tmp_path, environment, until="deviceid")

    assert any("deviceid" in finding for finding in found)
    assert any(path.name == "deviceid" for path in (tmp_path / "home").rglob("*"))


@pytest.mark.needs("strace")
def test_the_trace_finds_a_name_that_is_looked_up(tmp_path: Path) -> None:
    environment = silent_environment(tmp_path / "home", tmp_path / "temporary")
    environment["PYTHONPATH"] = early_code(tmp_path / "early", LOOK_UP)

    found = traced_life(tmp_path, environment)

    assert any("looks a name up" in finding for finding in found)


@pytest.mark.parametrize("line", LOUD)
def test_the_judge_finds_each_way_out(line: str) -> None:
    assert list(judge(line, allowed=ALLOWED)) != []


@pytest.mark.parametrize("line", QUIET)
def test_the_judge_allows_loopback_and_the_root(line: str) -> None:
    assert list(judge(line, allowed=ALLOWED)) == []
