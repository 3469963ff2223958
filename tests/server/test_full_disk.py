"""A store's disk runs full or read-only under a running server, and comes back."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.server import ADMIN_KEY, Client, ServerProcess, configured, store_folder
from tests.support.stores import lines_of
from tests.support.waiting import eventually

TEXT = "x" * 16_000
"""More than the room that is left in the last block of a file."""


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=60)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A root whose project projA has a disk of 1 MB for itself."""
    folder = store_folder(configured(tmp_path))
    folder.mkdir(parents=True)
    run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        run("umount", "--lazy", str(folder))


def entry(local: str) -> dict[str, Any]:
    return {"id": local, "kind": "note", "title": local, "body": {"text": local + TEXT}}


def fill(folder: Path) -> Path:
    """Take all the room there is."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            return filler
    raise AssertionError("the disk has no end")


def refusal(reason: str) -> dict[str, Any]:
    return {
        "error": {
            "code": "storageFull",
            "message": f"store projA takes no writes now: {reason}; reading goes on, and writing"
            " resumes by itself once the disk allows it",
            "details": {"project": "projA", "reason": reason},
        }
    }


def assert_read_only(server: ServerProcess, client: Client, reason: str) -> None:
    """Check that projA takes no write and says so, that it is read, and that others go on."""
    requests: list[tuple[str, dict[str, Any]]] = [
        ("upsertEntry", {"entry": entry("late")}),
        ("patchEntry", {"id": "a", "patch": {"body": {"text": "late" + TEXT}}}),
        ("bulkImport", {"entries": [entry("late"), entry("later")]}),
    ]
    for command, request in requests:
        answer = client.send(command, request)
        assert (answer.status, answer.json) == (507, refusal(reason))
    assert client("getEntry", id="a")["entry"]["body"]["text"] == "a" + TEXT
    assert client.fails("getEntry", id="late").code == "notFound"
    eventually(lambda: client("health")["status"] != "Loading")  # the other stores
    report = client("health")
    (store,) = [one for one in report["stores"] if one["name"] == "projA"]
    assert report["status"] == "Degraded"
    assert (store["readOnly"], store["entries"]) == (True, 1)
    assert store["readOnlyReason"] == refusal(reason)["error"]["message"]
    found = [(one["project"], one["reason"]) for one in report["problems"]]
    assert ("projA", store["readOnlyReason"]) in found
    assert server.call("projB", "upsertEntry", entry=entry("b"))["id"] == "projB:b"


def problems(server: ServerProcess) -> set[str]:
    """Return the codes of everything that health finds wrong."""
    return {one["code"] for one in server.call("projA", "health")["problems"]}


def assert_resumes(server: ServerProcess, client: Client) -> None:
    """Check that writing goes on without a restart, and that everything is there after one."""
    # A disk of one megabyte has no room for indexes, and health says so; the store is well.
    eventually(lambda: problems(server) <= {"indexes", "indexesInMemory"})
    assert server.store()["readOnly"] is False
    assert client("upsertEntry", entry=entry("after"))["created"]
    assert client("patchEntry", id="a", patch={"tags": ["kept"]})["entry"]["tags"] == ["kept"]
    assert server.stop() == 0
    assert [line["id"] for line in lines_of(store_folder(server.root) / "entries.jsonl")] == [
        "projA:a",
        "projA:after",
    ]
    with ServerProcess(server.root, key=ADMIN_KEY) as again, again.client() as client:
        items = client("listEntries", include="full", sort="title")["items"]
    assert [item["body"]["text"] for item in items] == ["a" + TEXT, "after" + TEXT]


@pytest.mark.needs("mount")
@pytest.mark.fault("F04")
def test_a_full_disk_refuses_writes_until_there_is_room_again(disk: Path, tmp_path: Path) -> None:
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server, server.client() as client:
        assert client("upsertEntry", entry=entry("a"))["created"]
        eventually(lambda: server.store()["pendingJournal"] == 0)

        filler = fill(disk)

        assert_read_only(server, client, "No space left on device")
        filler.unlink()
        assert_resumes(server, client)


@pytest.mark.needs("mount")
@pytest.mark.fault("F04")
def test_with_room_on_the_disk_the_same_writes_are_taken(disk: Path, tmp_path: Path) -> None:
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server, server.client() as client:
        assert client("upsertEntry", entry=entry("a"))["created"]

        with pytest.raises(AssertionError):
            assert_read_only(server, client, "No space left on device")


@pytest.mark.needs("mount")
@pytest.mark.fault("F16")
def test_a_read_only_disk_is_read_until_it_can_be_written(disk: Path, tmp_path: Path) -> None:
    disk.joinpath("entries.jsonl").write_bytes(msgspec.json.encode(entry("a")) + b"\n")
    run("mount", "-o", "remount,ro", str(disk))
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server, server.client() as client:
        assert_read_only(server, client, "Read-only file system")

        run("mount", "-o", "remount,rw", str(disk))

        assert_resumes(server, client)
