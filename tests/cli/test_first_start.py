"""The first start of a server, at a terminal and through a pipe."""

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support.server import ServerProcess, configured

LIMIT_S = 240

pytestmark = pytest.mark.skipif(not hasattr(os, "openpty"), reason="pseudo terminals are for POSIX")


def serve_on_a_terminal(root: Path, *words: str, **environment: str) -> str:
    """Return what a terminal shows of a server that is stopped once it listens."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "qms.cli.server", "serve", "--root", str(root), *words],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "80", **environment},
    )
    os.close(theirs)
    guard = threading.Timer(LIMIT_S, process.kill)
    guard.start()
    drain = threading.Thread(target=process.communicate)
    shown = b""
    try:
        drain.start()
        while not re.search(rb"listening: \S+\r?\n", shown):
            shown += os.read(ours, 4096)
        process.send_signal(signal.SIGTERM)
    except OSError:
        pass  # the last writer has gone: the server could not listen
    finally:
        drain.join()
        guard.cancel()
        os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_a_box_with_address_link_and_key(tmp_path: Path) -> None:
    shown = serve_on_a_terminal(tmp_path, "--port", "0", PYTHONUTF8="1")

    box = re.search(r"^╭─ .*?^╰─*$", shown, re.MULTILINE | re.DOTALL)
    assert box is not None, shown
    url = re.search(r"^listening: (\S+)", shown, re.MULTILINE)
    assert url is not None
    lines = [line.removeprefix("│").strip() for line in box[0].split("\n")]
    assert url[1] in lines
    assert any(re.fullmatch(re.escape(url[1]) + r"/#setup=[\w-]{43}", line) for line in lines)
    assert any(re.fullmatch(r"qms_\S+", line) for line in lines)
    assert all(len(line) <= 80 for line in shown.split("\n"))
    assert "admin key: " not in shown
    assert "setup link: " not in shown


def test_a_terminal_without_unicode_gets_the_box_in_ascii(tmp_path: Path) -> None:
    shown = serve_on_a_terminal(tmp_path, "--port", "0", PYTHONUTF8="0", PYTHONIOENCODING="ascii")

    assert "\n+- Quick Memory Server is running ---" in shown
    assert shown.isascii()


def test_a_later_start_has_no_box(tmp_path: Path) -> None:
    shown = serve_on_a_terminal(configured(tmp_path), "--port", "0")

    assert re.fullmatch(r"listening: \S+\n", shown)


def test_a_server_that_cannot_listen_still_shows_the_key_that_it_made(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()

        shown = serve_on_a_terminal(tmp_path, "--port", str(taken.getsockname()[1]))

    assert re.fullmatch(r"admin key: qms_\S+\n", shown)


def test_a_pipe_gets_plain_lines_only(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        names = [line.partition(": ")[0] for line in server.lines]

    assert names == ["admin key", "setup link", "listening"]
