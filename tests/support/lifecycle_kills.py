"""A process that is killed before every write, sync, rename and removal of one lifecycle command.

`python -m tests.support.lifecycle_kills FOLDER STORY [careless]` forks a child for each moment,
looks at what is left after the next start, and prints a line of JSON for each: whether the child
was killed, whether it had been answered, and the state. The last line is of a child that nothing
killed. `careless` tells the story without the guard that it tests.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from qms.app.jobs import Jobs
from qms.features.transfer.moves_file import Moves
from qms.memory.access import LOCAL_ADMIN
from tests.support.house import Clock, House
from tests.support.stores import UnsyncedDisk

MOST = 200
"""No command has more moments."""

ENTRIES: dict[str, dict[str, Any]] = {
    "one": {
        "body": "first",
        "tags": ["a"],
        "relations": [{"type": "ref", "targetId": "projA:two"}],
    },
    "two": {"body": "second", "tags": ["b"]},
    "three": {
        "body": "third",
        "tags": ["a"],
        "relations": [{"type": "ref", "targetId": "projA:one"}],
    },
}


class KillingDisk(UnsyncedDisk):
    """A disk that kills its process before the n-th thing that it would do.

    What was written outlives the process without a sync, which would only take time.
    """

    left: int | None = None

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._count()
        super().sync(descriptor)

    def rename(self, source: Path, target: Path) -> None:
        self._count()
        super().rename(source, target)

    def remove(self, path: Path) -> None:
        self._count()
        super().remove(path)


class _Nowhere(UnsyncedDisk):
    """A disk that keeps nothing."""

    def put(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
        """Forget it."""

    def remove(self, path: Path) -> None:
        """Have nothing to remove."""


def send(house: House, command: str, **request: Any) -> Any:
    return house.gate.call(LOCAL_ADMIN, "projA", command, request)


def move(house: House, *, careless: bool) -> None:
    if careless:
        house.store().features.get(Moves)._disk = _Nowhere()
    send(house, "moveEntry", id="one", toProject="projB")


def consolidate(house: House, *, careless: bool) -> None:
    if not careless:
        send(house, "consolidateEntries", ids=["one", "two"], title="Both")
        return
    send(house, "upsertEntry", entry={"kind": "note", "title": "Both", "body": "- first"})
    for local in ("one", "two"):
        send(house, "deleteEntry", id=local)


def resolve(house: House, *, careless: bool) -> None:
    if not careless:
        send(house, "resolveContradiction", winner="one", loser="two")
        return
    send(house, "patchEntry", id="two", patch={"priority": 1, "confidence": 0.1})
    send(house, "linkEntries", sourceId="one", targetId="two", type="supersedes")


def forget(house: House, *, careless: bool) -> None:
    if not careless:
        send(house, "forgetEntries", filter={"tag": "a"})
        return
    for local in ("one", "three"):
        send(house, "deleteEntry", id=local)


STORIES: dict[str, Callable[..., None]] = {
    "move": move,
    "consolidate": consolidate,
    "resolve": resolve,
    "forget": forget,
}


def prepare(folder: Path) -> None:
    folder.mkdir(parents=True)
    house = House(folder, Clock(), disk=UnsyncedDisk())
    for local, fields in ENTRIES.items():
        send(house, "upsertEntry", entry={"id": local, "kind": "note", **fields})
    house.store("projB")
    house.close()


def state_of(folder: Path) -> dict[str, Any]:
    """Start on what is left, do what is left to do, and return what the stores hold."""
    house = House(folder, Clock(), disk=UnsyncedDisk())
    try:
        for project in ("projA", "projB"):
            house.store(project)
        Jobs(house.catalog, lambda: house.configuration.settings, house.clock).tick()
        return {project: _held(house, project) for project in ("projA", "projB")}
    finally:
        house.close()


def _held(house: House, project: str) -> dict[str, Any]:
    store = house.store(project)
    assert store.problems() == []
    living = [_told(record.document()) for record in store.view.records.values()]
    archived = [(one.entry["id"], one.reason) for one in store.archive.entries()]
    return {"living": sorted(living), "archived": sorted(archived)}


def _told(document: dict[str, Any]) -> list[Any]:
    local = document["id"].partition(":")[2]
    relations = sorted((one["type"], one["targetId"]) for one in document.get("relations", []))
    return [
        local if local in ENTRIES else "made",
        document["body"]["text"],
        document.get("priority", 5),
        document.get("confidence", 1.0),
        relations,
    ]


def tell(folder: Path, story: str, number: int, *, careless: bool) -> tuple[bool, bool]:
    """Tell a story up to its n-th moment; say whether it was killed, and whether answered."""

    def told() -> None:
        disk = KillingDisk()
        house = House(folder, Clock(), disk=disk)
        for project in ("projA", "projB"):
            house.store(project)
        disk.left = number
        STORIES[story](house, careless=careless)

    return killed_child(told)


def killed_child(story: Callable[[], None]) -> tuple[bool, bool]:
    """Tell a story in a child; say whether that was killed, and whether it came to the end."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            story()
            os.write(writing, b"answered")
            os._exit(0)
        finally:
            os._exit(1)
    os.close(writing)
    _, status = os.waitpid(pid, 0)
    answered = os.read(reading, 16) == b"answered"
    os.close(reading)
    assert status in (0, signal.SIGKILL), "the story ended by itself"
    return status == signal.SIGKILL, answered


def main() -> None:
    folder, story, careless = Path(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["careless"]
    prepare(folder / "before")
    for number in range(1, MOST):
        shutil.copytree(folder / "before", folder / str(number))
        killed, answered = tell(folder / str(number), story, number, careless=careless)
        found = {"killed": killed, "answered": answered, "state": state_of(folder / str(number))}
        os.write(1, msgspec.json.encode(found) + b"\n")
        if not killed:
            return
    raise AssertionError("the story never came to its end")


if __name__ == "__main__":
    main()
