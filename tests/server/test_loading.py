"""The port answers before any store is loaded, and each store serves as soon as it is."""

import json
import threading
import urllib.request
from pathlib import Path
from typing import Any

from qms.disk.disk import Disk
from tests.support.running import RunningServer
from tests.support.server import ADMIN_KEY, configured, store_folder
from tests.support.waiting import eventually

TEXT = """\
[endpoint.shared]
slug = "shared"
[endpoint.slow]
slug = "slow"
includeShared = false
[users.admin]
tier = "admin"
apiKey = "qms_key_of_the_admin_for_tests"
"""
LIMIT_S = 60


class SlowDisk(Disk):
    """A disk on which a project's `entries.jsonl` is read only once it `arrives`."""

    def __init__(self, *projects: str) -> None:
        self._gates = {project: threading.Event() for project in projects}

    def arrive(self, project: str) -> None:
        """Let the reader of a project go on."""
        self._gates[project].set()

    def read(self, path: Path) -> bytes:
        """Wait before a file is read that has not arrived."""
        if path.name == "entries.jsonl":
            assert self._gates[path.parent.name].wait(LIMIT_S)
        return super().read(path)


def fill(root: Path, project: str) -> None:
    line = f'{{"id":"{project}:a","kind":"note","title":"There","body":{{"text":"x"}}}}\n'
    folder = store_folder(root, project)
    folder.mkdir(parents=True)
    (folder / "entries.jsonl").write_text(line, encoding="utf-8")


def ids(server: RunningServer, project: str) -> list[str]:
    return [item["id"] for item in server.call(project, "listEntries")["items"]]


def loaded(server: RunningServer) -> dict[str, bool]:
    return {store["name"]: store["loaded"] for store in server.call("shared", "health")["stores"]}


def status(server: RunningServer) -> Any:
    with urllib.request.urlopen(f"{server.url}/health", timeout=LIMIT_S) as answer:
        return json.loads(answer.read())["status"]


def test_the_port_answers_first_and_each_store_when_it_is_loaded(tmp_path: Path) -> None:
    configured(tmp_path, TEXT)
    fill(tmp_path, "shared")
    fill(tmp_path, "slow")
    disk = SlowDisk("shared", "slow")
    server = RunningServer(tmp_path, ADMIN_KEY, disk=disk)
    try:
        assert status(server) == "Loading"
        assert loaded(server) == {"shared": False, "slow": False}
        answers: list[Any] = []
        waiting = threading.Thread(target=lambda: answers.append(ids(server, "slow")))
        waiting.start()

        disk.arrive("shared")
        assert ids(server, "shared") == ["shared:a"]
        assert server.call("shared", "upsertEntry", entry={"kind": "note", "body": "y"})["created"]
        assert loaded(server) == {"shared": True, "slow": False}
        assert status(server) == "Loading"
        assert answers == []

        disk.arrive("slow")
        waiting.join()
        assert answers == [["slow:a"]]
        eventually(lambda: status(server) == "Healthy")
    finally:
        disk.arrive("shared")
        disk.arrive("slow")
        server.stop()
