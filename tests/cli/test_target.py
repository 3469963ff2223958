import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.cli import local, target
from qms.cli.local import Local
from qms.config.root import claim_root
from tests.cli.conftest import Terminal
from tests.support.environment import Environment


def test_it_says_that_it_works_on_the_files(files: Terminal) -> None:
    assert files.ok("list").err.startswith(f"on the files in {files.root}\n")


def test_it_finds_the_server_that_owns_the_root_and_says_so(server: Terminal) -> None:
    assert server.server is not None
    assert server.ok("list").err.startswith(f"on the server {server.server.url}\n")


def test_a_url_wins_over_a_root(server: Terminal, tmp_path: Path, environment: Environment) -> None:
    assert server.server is not None
    url = server.server.url

    assert f"on the server {url}" in server.ok("list", "--url", url, "--root", str(tmp_path)).err
    environment["QMS_URL"] = url
    assert f"on the server {url}" in server.ok("list", "--root", str(tmp_path)).err


def test_a_url_may_end_with_a_slash(server: Terminal) -> None:
    assert server.server is not None
    assert server.ok("list", "--url", server.server.url + "/").code == 0


def test_a_root_given_as_an_option_wins_over_the_environment(
    files: Terminal, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(files.root, other)

    files.ok("remember", "there", "--root", str(other))

    assert files.ok("list", "--include", "ids").out == ""
    assert f"on the files in {other}" in files.ok("list", "--root", str(other)).err


def test_a_root_that_no_server_has_set_up_is_not_made_by_a_look(
    files: Terminal, tmp_path: Path
) -> None:
    result = files("list", "--root", str(tmp_path / "nothing"))

    assert result.code == 4
    assert "hint: create one with `memoryctl init` or `qms serve`" in result.err
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("closed", ["", ".qms"])
def test_a_root_of_another_account_is_exit_code_6_with_a_way_out(
    files: Terminal, closed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.ok("list")
    refused, stat, opened = files.root / closed, os.stat, os.open

    def refuse(path: object) -> None:
        if refused in Path(str(path)).parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))

    def refusing_stat(path: Any, **options: Any) -> os.stat_result:
        refuse(path)
        return stat(path, **options)

    def refusing_open(path: Any, *arguments: Any, **options: Any) -> int:
        refuse(path)
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", refusing_stat)
    monkeypatch.setattr(os, "open", refusing_open)

    done = files("list")

    assert done.code == 6
    assert f"{files.root} cannot be used: Permission denied" in done.err
    assert "hint: it belongs to another account: use its server with --url and --key" in done.err


def test_a_server_that_is_not_there_is_told_so_with_and_without_a_key(
    files: Terminal, environment: Environment
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    result = files("list", "--url", f"http://127.0.0.1:{port}")
    del environment["QMS_KEY"]
    without_key = files("list", "--url", f"http://127.0.0.1:{port}")

    assert result.code == without_key.code == 6
    assert f"error: no server is running at http://127.0.0.1:{port}\n" in result.err
    assert without_key.err.startswith(f"error: no server is running at http://127.0.0.1:{port}\n")


def test_something_else_that_answers_is_recognised(files: Terminal) -> None:
    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        stranger = threading.Thread(target=answer, args=(listener,))
        stranger.start()
        result = files("list", "--url", f"http://127.0.0.1:{listener.getsockname()[1]}")
        stranger.join()

    assert result.code == 6
    assert "is not a Quick Memory Server" in result.err


@pytest.mark.parametrize(
    "url",
    ["127.0.0.1:5080", "ftp://host", "http://", "http://u:p@host", "http://h/?key=x", "http://[:"],
)
def test_a_url_that_is_none_is_refused_with_exit_code_2(files: Terminal, url: str) -> None:
    assert files("list", "--url", url).code == 2


@pytest.mark.parametrize("key", ["wrong", "qms_" + "x" * 43, "new\nline", "ünïcode"])
def test_a_wrong_key_is_exit_code_3_with_a_way_out(server: Terminal, key: str) -> None:
    result = server("get", "default:a", "--key", key)

    assert result.code == 3
    assert "hint: lost your key? run `memoryctl keys create USER`" in result.err


def test_no_key_at_all_is_exit_code_3(server: Terminal, environment: Environment) -> None:
    del environment["QMS_KEY"]

    assert server("list").code == 3


def test_a_missing_key_for_the_own_server_names_init(
    server: Terminal, environment: Environment
) -> None:
    assert server.server is not None
    del environment["QMS_KEY"]

    for words in (["list"], ["list", "--url", server.server.url]):
        hints = [line for line in server(*words).err.splitlines() if line.startswith("hint:")]
        assert hints[0].startswith("hint: run `memoryctl init`: it stores a key")


def test_the_key_in_a_root_is_for_its_own_server_alone(
    server: Terminal, tmp_path: Path, environment: Environment
) -> None:
    assert server.server is not None
    del environment["QMS_KEY"]
    server.ok("init")
    other = tmp_path / "other"
    server.ok("init", "--root", str(other))
    url = server.server.url

    assert server.ok("list", "--url", url + "/").code == 0
    assert server("list", "--url", url, "--root", str(other)).code == 3
    with socket.create_server(("127.0.0.2", server.server.port)):
        assert server("list", "--url", url.replace("127.0.0.1", "127.0.0.2")).code == 3


def test_files_need_no_key(files: Terminal, environment: Environment) -> None:
    del environment["QMS_KEY"]

    assert files.ok("list").code == 0


def test_an_owner_without_an_address_is_waited_for_and_then_named(
    files: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(target, "LOCK_WAIT_S", 0.1)
    held = claim_root(files.root, lambda: datetime.now(UTC), command="something else")

    result = files("list")
    held.release()

    assert result.code == 5
    assert "something else" in result.err
    assert files.ok("list").code == 0


def test_an_owner_that_leaves_is_waited_for(
    files: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = claim_root(files.root, lambda: datetime.now(UTC), command="something else")
    pauses: list[float] = []

    def leave(pause_s: float) -> None:
        pauses.append(pause_s)
        held.release()

    monkeypatch.setattr(time, "sleep", leave)

    assert files.ok("list").code == 0
    assert len(pauses) == 1


def test_commands_at_the_same_time_lose_nothing(files: Terminal) -> None:
    program = [sys.executable, "-X", "utf8", "-m", "qms.cli.main", "remember"]
    writers = [
        subprocess.Popen([*program, f"text {number}"], stdout=subprocess.DEVNULL)
        for number in range(4)
    ]

    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert len(files.ok("list", "--json").json["items"]) == 4


def test_the_lock_never_holds_what_stood_on_the_command_line(files: Terminal) -> None:
    seen: list[str] = []
    lock = files.root / ".qms" / "lock"

    class Spy(Local):
        def close(self) -> None:
            seen.append(lock.read_text(encoding="utf-8"))
            super().close()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "Local", Spy)
        files.ok("list", "--key", "qms_secret")

    (text,) = seen
    assert json.loads(text)["command"] == "memoryctl list"


def test_the_project_is_guessed_from_the_folder(ctl: Terminal) -> None:
    folder = Path.cwd() / "Shared"
    folder.mkdir()
    with chdir(folder):
        entry_id = ctl.remember("here")

    assert entry_id.startswith("shared:")
    assert ctl.remember("there").startswith("default:")
    assert ctl.remember("named", "--project", "SHARED").startswith("shared:")


def test_a_first_key_made_on_the_way_is_shown(files: Terminal) -> None:
    path = files.root / "QuickMemoryServer.toml"
    path.write_text('[endpoint.default]\nslug = "default"\n', encoding="utf-8")

    result = files.ok("list")

    key = result.err.split("admin key: ")[1].split()[0]
    files.start()
    assert files.ok("list", "--key", key).code == 0
