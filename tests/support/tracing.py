"""A server under strace, and a judge of what its trace says: where it spoke to, what it wrote."""

import ipaddress
import os
import re
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from tests.support.server import STOP_LIMIT_S, ServerProcess

TELEMETRY_SWITCHES = frozenset(
    {
        "ORT_DISABLE_TELEMETRY",
        "APPVEYOR",
        "BITBUCKET_BUILD_NUMBER",
        "BUILDKITE",
        "CI",
        "CIRCLECI",
        "CODEBUILD_BUILD_ID",
        "GITHUB_ACTIONS",
        "GITLAB_CI",
        "JENKINS_URL",
        "TEAMCITY_VERSION",
        "TF_BUILD",
        "TRAVIS",
    }
)
"""Each of these keeps onnxruntime silent: it does not report from build servers."""

CHANGES = frozenset(
    {
        "creat",
        "mkdir",
        "mkdirat",
        "mknod",
        "mknodat",
        "rename",
        "renameat",
        "renameat2",
        "unlink",
        "unlinkat",
        "rmdir",
        "link",
        "linkat",
        "symlink",
        "symlinkat",
        "truncate",
        "chmod",
        "fchmodat",
        "chown",
        "lchown",
        "fchownat",
        "setxattr",
        "lsetxattr",
    }
)
OPENS = frozenset({"open", "openat", "openat2"})
SPEAKS = frozenset({"connect", "bind", "sendto", "sendmsg", "sendmmsg"})
RESOLVER_PORTS = frozenset({53, 853, 5353, 5355})
RESOLVER_FILES = frozenset({"/etc/resolv.conf", "/etc/hosts"})
KERNEL_FOLDERS = (Path("/dev"), Path("/proc"))
"""Devices and the process's own entries: nothing written there is a file that stays."""

_CALL = re.compile(r"(?:\d+ +)?(?P<name>\w+)\((?P<arguments>.*)")
_ADDRESS = re.compile(
    r"sa_family=(?P<family>AF_\w+)(?:, sin6?_port=htons\((?P<port>\d+)\))?"
    r"(?:, sin6_flowinfo=htonl\(\d+\))?"
    r'(?:, (?:sin_addr=inet_addr\(|inet_pton\(AF_INET6, )"(?P<host>[^"]+)")?'
)
_PATH = re.compile(r'(?:(?:AT_FDCWD|\d+)<(?P<folder>[^>]*)>, )?"(?P<path>[^"]*)"')
_WRITES = re.compile(r"O_(?:WRONLY|RDWR|CREAT|TRUNC)")


class TracedServer(ServerProcess):
    """A `qms serve` whose threads each leave a trace in a folder; complete once it has ended."""

    def __init__(self, root: Path, *, key: str, traces: Path, environment: dict[str, str]) -> None:
        traces.mkdir()
        calls = ",".join(sorted(CHANGES | OPENS | SPEAKS))
        strace = ["strace", "-ff", "--seccomp-bpf", "-y", "-s", "64", "-e", f"trace={calls}"]
        # What the judge should find is seen as an attempt, and still does not leave the machine.
        strace += ["-e", "inject=connect:error=ENETUNREACH", "-o", str(traces / "thread")]
        super().__init__(root, key=key, before=tuple(strace), environment=environment)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal to the server, not to strace, and return the server's exit code."""
        (server,) = psutil.Process(self.process.pid).children()
        server.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """End the server if it still runs; strace ends with it."""
        if self.process.poll() is None:
            for server in psutil.Process(self.process.pid).children():
                server.kill()
            self.process.wait(STOP_LIMIT_S)
        super().kill()


def silent_environment(home: Path, temporary: Path) -> dict[str, str]:
    """Return an environment with an empty home, and without what switches telemetry off."""
    home.mkdir()
    temporary.mkdir()
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in TELEMETRY_SWITCHES and not name.startswith("XDG_")
    }
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        # The interpreter's cache of compiled modules lies beside them, in the installation.
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def findings(traces: Path, *, allowed: Sequence[Path]) -> list[str]:
    """Return each call that looks a name up, leaves the machine, or writes outside `allowed`."""
    found = [
        reason
        for path in sorted(traces.iterdir())
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        for reason in judge(line, allowed=allowed)
    ]
    return list(dict.fromkeys(found))


def judge(line: str, *, allowed: Sequence[Path]) -> Iterator[str]:
    """Yield what is wrong with one line of a trace; a failed attempt counts like a success."""
    call = _CALL.match(line)
    if call is None:
        return
    if call["name"] in SPEAKS:
        yield from _wrong_addresses(call["arguments"])
    elif call["name"] in OPENS | CHANGES:
        yield from _wrong_paths(call["name"], call["arguments"], allowed)


def _wrong_addresses(arguments: str) -> Iterator[str]:
    for address in _ADDRESS.finditer(arguments):
        family, host, port = address["family"], address["host"], address["port"]
        if family not in ("AF_INET", "AF_INET6"):
            yield f"speaks to {family}: {arguments}"
        elif host is None or port is None:
            yield f"speaks to an address that was not understood: {arguments}"
        elif not ipaddress.ip_address(host).is_loopback:
            yield f"speaks to {host} port {port}"
        elif int(port) in RESOLVER_PORTS:
            yield f"asks a resolver at {host} port {port}"


def _wrong_paths(name: str, arguments: str, allowed: Sequence[Path]) -> Iterator[str]:
    for found in _PATH.finditer(arguments):
        path = os.path.normpath(Path(found["folder"] or "/") / found["path"])
        if name in OPENS and path in RESOLVER_FILES:
            yield f"looks a name up: reads {path}"
        is_change = name in CHANGES or _WRITES.search(arguments) is not None
        places = (*allowed, *KERNEL_FOLDERS)
        if is_change and not any(Path(path).is_relative_to(place) for place in places):
            yield f"writes outside: {name} {path}"


def early_code(folder: Path, code: str) -> str:
    """Return a PYTHONPATH that has some code run before anything of ours is loaded."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code, encoding="utf-8")
    return os.pathsep.join((str(folder), *filter(None, [os.environ.get("PYTHONPATH", "")])))
