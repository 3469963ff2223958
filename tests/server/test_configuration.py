"""The TOML of a running server: broken, repaired, extended, shortened; and the first run."""

import hashlib
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import ADMIN_KEY, ServerProcess, configured
from tests.support.waiting import eventually

NEW_PROJECT = '\n[endpoint.projC]\nslug = "projC"\n'


def toml_of(root: Path) -> Path:
    return root / "QuickMemoryServer.toml"


def append(root: Path, text: str) -> None:
    with toml_of(root).open("a", encoding="utf-8") as file:
        file.write(text)


def cut(root: Path, text: str) -> None:
    path = toml_of(root)
    before = path.read_text(encoding="utf-8")
    assert text in before
    path.write_text(before.replace(text, "\n"), encoding="utf-8")


def problems(server: ServerProcess) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.call("projA", "health")["problems"]
    return found


def status_of(server: ServerProcess, project: str, command: str = "listEntries") -> int:
    with server.client(project) as client:
        return client.send(command, {}).status


@pytest.mark.fault("F21")
def test_a_broken_configuration_changes_nothing_and_is_shown_until_repaired(
    tmp_path: Path,
) -> None:
    configured(tmp_path)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        eventually(lambda: server.status() == (200, {"status": "Healthy"}))
        broken = NEW_PROJECT + "this is no TOML\n"
        line = toml_of(tmp_path).read_text(encoding="utf-8").count("\n") + broken.count("\n")

        append(tmp_path, broken)

        eventually(lambda: problems(server))
        (problem,) = problems(server)
        assert problem["code"] == "configuration"
        assert (problem["project"], problem["file"]) == (None, "QuickMemoryServer.toml")
        assert problem["line"] == line
        assert server.status() == (200, {"status": "Degraded"})
        assert status_of(server, "projC") == 404
        assert server.call("projA", "upsertEntry", entry={"kind": "note", "body": "x"})["created"]

        cut(tmp_path, "this is no TOML\n")

        eventually(lambda: not problems(server))
        eventually(lambda: server.status() == (200, {"status": "Healthy"}))
        assert status_of(server, "projC") == 200


@pytest.mark.fault("F21")
def test_a_truncated_configuration_locks_nobody_out(tmp_path: Path) -> None:
    configured(tmp_path)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        eventually(lambda: "sha256" in toml_of(tmp_path).read_text(encoding="utf-8"))
        whole = toml_of(tmp_path).read_text(encoding="utf-8")

        toml_of(tmp_path).write_text(whole[: len(whole) // 3], encoding="utf-8")

        eventually(lambda: problems(server))
        assert status_of(server, "projA") == status_of(server, "projB") == 200
        toml_of(tmp_path).write_text(whole, encoding="utf-8")
        eventually(lambda: not problems(server))


def test_a_project_comes_and_goes_with_its_lines_in_the_configuration(tmp_path: Path) -> None:
    configured(tmp_path)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        with server.client("projC") as client:
            absent = client.send("listEntries", {})
        assert absent.status == 404

        append(tmp_path, NEW_PROJECT)
        eventually(lambda: status_of(server, "projC") == 200)
        server.call("projC", "upsertEntry", entry={"id": "a", "kind": "note", "body": "x"})
        assert server.store("projC")["entries"] == 1

        cut(tmp_path, NEW_PROJECT)
        eventually(lambda: status_of(server, "projC") == 404)
        with server.client("projC") as client:
            gone = client.send("listEntries", {})
        assert (gone.body, gone.headers.keys()) == (absent.body, absent.headers.keys())
        assert "projC" not in str(server.call("projA", "health"))
        eventually((tmp_path / "MemoryStores" / "projC" / "entries.jsonl").exists)

        append(tmp_path, NEW_PROJECT)
        eventually(lambda: status_of(server, "projC") == 200)
        assert [item["id"] for item in server.call("projC", "listEntries")["items"]] == ["projC:a"]


def test_a_first_run_gives_its_key_once_and_keeps_only_a_hash_for_itself(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as first:
        key = first.key
        assert [line.partition(": ")[0] for line in first.lines] == [
            "admin key",
            "setup link",
            "listening",
        ]
        text = toml_of(tmp_path).read_text(encoding="utf-8")
        assert key not in text
        assert hashlib.sha256(key.encode()).hexdigest() in text
        if os.name == "posix":
            assert stat.S_IMODE(toml_of(tmp_path).stat().st_mode) == 0o600
        stores = first.call("default", "health")["stores"]
        assert {store["name"] for store in stores} == {"default", "shared"}
        assert first.stop() == 0
        assert key not in first.errors
    logged = (tmp_path / "logs" / "qms.log").read_text(encoding="utf-8")
    assert key not in logged

    with ServerProcess(tmp_path, key=key) as second:
        assert [line.partition(": ")[0] for line in second.lines] == ["listening"]
        assert second.call("default", "listEntries")["items"] == []


def test_a_plain_key_is_taken_and_replaced_by_its_hash_at_the_start_and_while_running(
    tmp_path: Path,
) -> None:
    configured(tmp_path)
    toml_of(tmp_path).chmod(0o644)

    def is_sealed(key: str) -> bool:
        text = toml_of(tmp_path).read_text(encoding="utf-8")
        return key not in text and hashlib.sha256(key.encode()).hexdigest() in text

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        assert is_sealed(ADMIN_KEY)
        if os.name == "posix":
            assert stat.S_IMODE(toml_of(tmp_path).stat().st_mode) == 0o600
        assert status_of(server, "projA") == 200

        append(
            tmp_path, '\n[users.late]\ntier = "reader"  # a guest\napiKey = "qms_written_late"\n'
        )

        eventually(lambda: is_sealed("qms_written_late"))
        assert "# a guest" in toml_of(tmp_path).read_text(encoding="utf-8")
        with server.client(key="qms_written_late") as client:
            eventually(lambda: client.send("listEntries", {}).status == 200)
            assert client.fails("upsertEntry", entry={"kind": "note", "body": "x"}).status == 403
