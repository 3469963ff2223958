"""The port answers before any store is loaded, and each store serves as soon as it is."""

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are for POSIX")

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


class SlowFile:
    """An `entries.jsonl` that a reader waits for: a pipe that nobody writes to yet."""

    def __init__(self, root: Path, project: str) -> None:
        self._file = store_folder(root, project) / "entries.jsonl"
        self._file.parent.mkdir(parents=True)
        self._pipe = root / f"{project}.pipe"
        os.mkfifo(self._pipe)
        self._file.hardlink_to(self._pipe)
        self._project = project

    def arrive(self) -> None:
        """Put the real file in the pipe's place, and let who waits at the pipe go on."""
        line = f'{{"id":"{self._project}:a","kind":"note","title":"There","body":{{"text":"x"}}}}\n'
        real = self._file.with_name("real")
        real.write_text(line, encoding="utf-8")
        # Opens once there is a reader, who finds nothing in the pipe and looks at the name again.
        with self._pipe.open("wb"):
            real.replace(self._file)


def ids(server: ServerProcess, project: str) -> list[str]:
    return [item["id"] for item in server.call(project, "listEntries")["items"]]


def loaded(server: ServerProcess) -> dict[str, bool]:
    return {store["name"]: store["loaded"] for store in server.call("shared", "health")["stores"]}


def test_the_port_answers_first_and_each_store_when_it_is_loaded(tmp_path: Path) -> None:
    configured(tmp_path, TEXT)
    shared, slow = SlowFile(tmp_path, "shared"), SlowFile(tmp_path, "slow")

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        assert server.status() == (200, {"status": "Loading"})
        assert loaded(server) == {"shared": False, "slow": False}
        answers: list[Any] = []
        waiting = threading.Thread(target=lambda: answers.append(ids(server, "slow")))
        waiting.start()

        shared.arrive()
        assert ids(server, "shared") == ["shared:a"]
        assert server.call("shared", "upsertEntry", entry={"kind": "note", "body": "y"})["created"]
        assert loaded(server) == {"shared": True, "slow": False}
        assert server.status() == (200, {"status": "Loading"})
        assert answers == []

        slow.arrive()
        waiting.join()
        assert answers == [["slow:a"]]
        eventually(lambda: server.status() == (200, {"status": "Healthy"}))
        assert server.stop() == 0
