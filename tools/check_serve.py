"""Run the README's first command in a fresh clone: it must serve, stop and leave no files."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import tomllib
import urllib.request
from pathlib import Path

DEFAULT_PORT = 5080
START_LIMIT_S = 600
STOP_LIMIT_S = 60
LISTENING = "listening: "


def main(command: str) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        clone, root = Path(scratch, "clone"), Path(scratch, "root")
        subprocess.run(["git", "clone", "-q", ".", str(clone)], check=True)
        serve(command if is_free(DEFAULT_PORT) else f"{command} --port 0", clone, root)
        refuse_tools_of_developers(clone)
        changed = git_status(clone)
        if changed:
            sys.exit(f"serving changed the source folder:\n{changed}")
        if not (root / "QuickMemoryServer.toml").is_file():
            sys.exit("serving did not use the root that QMS_ROOT names")


def serve(command: str, clone: Path, root: Path) -> None:
    """Start the command, request its health, stop it with SIGTERM and expect exit code 0."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("QMS_")}
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=clone,
        env=kept | {"QMS_ROOT": str(root)},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    guard = threading.Timer(START_LIMIT_S, os.killpg, (process.pid, signal.SIGKILL))
    guard.start()
    try:
        url = wait_until_listening(process)
        print(f"{command}: {url} answers {health(url)}")
        # The child is the shell, which runs uv: the lock names the process that serves.
        os.kill(json.loads((root / ".qms" / "lock").read_bytes())["pid"], signal.SIGTERM)
        code = process.wait(STOP_LIMIT_S)
    finally:
        guard.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code != 0:
        sys.exit(f"SIGTERM ended the server with {code} instead of 0")


def wait_until_listening(process: "subprocess.Popen[str]") -> str:
    """Return the URL that the server prints when it listens."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        if line.startswith(LISTENING):
            return line.removeprefix(LISTENING).strip()
        seen.append(line)
    sys.exit(f"the server never said where it listens:\n{''.join(seen)}")


def health(url: str) -> str:
    """Return the status that the server reports without a key."""
    with urllib.request.urlopen(f"{url.rstrip('/')}/health", timeout=30) as answer:
        return str(json.load(answer)["status"])


def refuse_tools_of_developers(clone: Path) -> None:
    """Fail if the command has installed a package that only the group `dev` asks for."""
    groups = tomllib.loads((clone / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [line for line in groups["dependency-groups"]["dev"] if isinstance(line, str)]
    tools = {re.split(r"[<>=;\[ ]", line, maxsplit=1)[0].lower() for line in wanted}
    command = ["uv", "pip", "list", "--format", "json"]
    listed = subprocess.run(command, cwd=clone, check=True, capture_output=True, encoding="utf-8")
    installed = {package["name"].lower() for package in json.loads(listed.stdout)}
    # `pyyaml` also comes with a package that the server needs.
    if found := (tools & installed) - {"pyyaml"}:
        sys.exit(f"serving fetched what only developers need: {', '.join(sorted(found))}")
    print(f"{len(installed)} packages installed, none of them only for developers")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def git_status(folder: Path) -> str:
    status = ["git", "-C", str(folder), "status", "--porcelain"]
    return subprocess.run(status, check=True, capture_output=True, encoding="utf-8").stdout


if __name__ == "__main__":
    main(sys.argv[1])
