import errno
from pathlib import Path
from typing import Any

import pytest

from qms.disk.disk import Disk
from qms.version import __version__
from tests.conftest import EntryMaker
from tests.support.asgi import AsgiClient
from tests.support.house import Clock, Door, House, key_of

LINE = (
    '{{"schemaVersion":1,"id":"projA:e{0}","kind":"note","title":"t{0}","body":{{"text":"x"}},'
    '"timestamps":{{"createdUtc":"2026-01-01T00:00:00Z","updatedUtc":"2026-01-01T00:00:00Z"}}}}\n'
)


def load_all(house: House) -> None:
    for project in house.catalog.projects:
        house.store(project)


def store_named(report: Any, name: str = "projA") -> Any:
    return next(store for store in report["stores"] if store["name"] == name)


def test_a_house_without_trouble_is_healthy(house: House, as_reader: Door) -> None:
    load_all(house)

    report = as_reader("health")

    expected = {"status", "stores", "embedder", "version", "problems", "nextBackupUtc"}
    assert set(report) == {*expected, "sandbox"}  # the project allows documents
    assert (report["status"], report["problems"]) == ("Healthy", [])
    assert report["version"] == __version__
    assert store_named(report) == {
        "name": "projA",
        "entries": 0,
        "bytes": 0,
        "loaded": True,
        "problems": 0,
        "conflicts": 0,
        "held": False,
        "readOnly": False,
        "readOnlyReason": None,
        "pendingJournal": 0,
        "sequence": 0,
        "lastWriteUtc": None,
        "lastFoldUtc": None,
        "embeddingBacklog": 0,
        "vectors": None,
        "indexes": {"state": "making", "done": 0, "total": 0, "rebuilds": 0, "inMemory": False},
    }


def test_the_version_is_that_of_the_installation(
    as_reader: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qms.features.health.health.__version__", "9.9.9")

    assert as_reader("health")["version"] == "9.9.9"


def test_the_embedder_and_what_waits_for_it_are_in_the_report(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    assert as_writer("health")["embedder"] is None

    as_writer("upsertEntry", entry=entry(id="one"))
    as_writer("searchEntries", query={"text": "one"})

    report = as_writer("health")
    assert store_named(report)["vectors"] == {"done": 0, "total": 1, "secondsLeft": None}
    assert report["embedder"] == {"kind": "hash", "model": "hash-v1", "dimension": 384}
    assert store_named(report)["embeddingBacklog"] == 1
    house.indexer.work()
    done = store_named(as_writer("health"))
    assert done["embeddingBacklog"] == 0
    assert done["vectors"] == {"done": 1, "total": 1, "secondsLeft": 0}


def test_only_stores_that_the_caller_may_open_are_in_the_report(house: House) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.projB]\nreader = "none"\n')

    def names(user: str) -> set[str]:
        return {store["name"] for store in house.door(user)("health")["stores"]}

    assert names("reader") == {"projA", "shared"}
    assert names("admin") == {"projA", "projB", "shared"}


def test_a_store_that_is_not_loaded_yet_says_so(house: House, as_reader: Door) -> None:
    report = as_reader("health")
    assert (report["status"], store_named(report)["loaded"]) == ("Loading", False)

    load_all(house)

    report = as_reader("health")
    assert (report["status"], store_named(report)["loaded"]) == ("Healthy", True)


def test_a_write_moves_the_counts_and_a_fold_empties_the_journal(
    house: House, as_writer: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_writer("bulkImport", entries=[entry(), entry()])

    store = store_named(as_writer("health"))
    assert (store["entries"], store["sequence"], store["pendingJournal"]) == (2, 1, 1)
    assert store["bytes"] == house.store().view.total_bytes > 200
    assert store["lastWriteUtc"] == "2026-03-01T12:00:00Z"
    assert store["lastFoldUtc"] is None

    clock.move(minutes=1)
    house.store().fold()
    store = store_named(as_writer("health"))
    assert store["pendingJournal"] == 0
    assert store["lastFoldUtc"] == "2026-03-01T12:01:00Z"
    assert store["bytes"] == house.entries_file().stat().st_size


def test_a_bad_line_degrades_and_is_listed_with_file_and_line(
    house: House, as_reader: Door
) -> None:
    house.entries_file().parent.mkdir(parents=True)
    house.entries_file().write_text(LINE.format(1) + "not json\n", encoding="utf-8")
    load_all(house)

    report = as_reader("health")

    assert report["status"] == "Degraded"
    assert store_named(report)["problems"] == 1
    (problem,) = report["problems"]
    assert set(problem) == {"code", "project", "file", "line", "reason"}
    assert (problem["project"], problem["file"], problem["line"]) == ("projA", "entries.jsonl", 2)


def test_a_conflict_copy_degrades_and_is_counted(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    load_all(house)
    as_writer("upsertEntry", entry=entry(id="a", title="Base"))
    house.store().fold()
    as_writer("patchEntry", id="a", patch={"title": "Ours"})
    path = house.entries_file()
    path.write_text(path.read_text(encoding="utf-8").replace("Base", "Theirs"), encoding="utf-8")
    house.store().reload()

    report = as_writer("health")

    assert (report["status"], store_named(report)["conflicts"]) == ("Degraded", 1)
    assert as_writer("getEntry", id="a")["entry"]["title"] == "Theirs"


def test_a_held_deletion_degrades_and_is_named(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    load_all(house)
    as_writer("upsertEntry", entry=entry())
    house.store().fold()
    house.entries_file().write_bytes(b"")
    house.store().reload()

    report = as_writer("health")

    assert (report["status"], store_named(report)["held"]) == ("Degraded", True)
    assert [problem["code"] for problem in report["problems"]] == ["held"]


class FullDisk(Disk):
    """A disk that can run full."""

    is_full = False

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(descriptor, data)


def test_a_full_disk_makes_the_store_read_only_and_it_recovers(
    tmp_path: Path, clock: Clock, entry: EntryMaker
) -> None:
    disk = FullDisk()
    house = House(tmp_path, clock, disk=disk)
    try:
        load_all(house)
        door = house.door("writer")
        door("upsertEntry", entry=entry(id="a"))
        disk.is_full = True

        refusal = door.fails("upsertEntry", entry=entry(id="b"))
        report = door("health")

        assert (refusal.status, refusal.code) == (507, "storageFull")
        assert report["status"] == "Degraded"
        assert store_named(report)["readOnly"] is True
        assert store_named(report)["readOnlyReason"]
        assert str(tmp_path) not in str(report)
        assert door("getEntry", id="a")["entry"]["id"] == "projA:a"
        assert door.fails("getEntry", id="b").code == "notFound"

        disk.is_full = False
        assert house.store().recover()
        assert store_named(door("health"))["readOnly"] is False
        assert door("upsertEntry", entry=entry(id="b"))["created"]
    finally:
        disk.is_full = False
        house.close()


@pytest.mark.fault("F25")
def test_a_store_that_cannot_be_opened_degrades_and_the_others_serve(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    house.entries_file("projB").mkdir(parents=True)
    for project in ("projA", "shared"):
        house.store(project)

    refusal = as_writer.at("projB").fails("listEntries")
    report = as_writer("health")

    assert (refusal.status, refusal.code) == (503, "unavailable")
    assert report["status"] == "Degraded"
    assert store_named(report, "projB")["loaded"] is False
    assert [(one["code"], one["project"]) for one in report["problems"]] == [
        ("storeUnavailable", "projB")
    ]
    assert str(house.root) not in str(report)
    assert as_writer("upsertEntry", entry=entry())["created"]


def test_a_broken_shared_store_does_not_stop_a_project_that_includes_it(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    house.entries_file("shared").mkdir(parents=True)

    as_writer("upsertEntry", entry=entry(id="a"))

    assert len(as_writer("relatedEntries", id="a")["nodes"]) == 1
    assert as_writer.fails("getEntry", id="shared:x").code == "unavailable"


def test_an_invalid_edit_of_the_configuration_is_shown_with_its_line_to_admins(
    house: House, as_reader: Door, as_admin: Door
) -> None:
    load_all(house)
    house.reconfigure(lambda text: text + "\nnonsense\n")

    report = as_admin("health")
    (problem,) = report["problems"]
    assert report["status"] == "Degraded"
    assert (problem["code"], problem["file"]) == ("configuration", "QuickMemoryServer.toml")
    assert problem["project"] is None
    assert problem["line"] > 1

    (hidden,) = as_reader("health")["problems"]
    assert hidden["line"] is None
    assert hidden["reason"] != problem["reason"]

    house.reconfigure(lambda text: text.replace("\nnonsense\n", "\n"))
    assert as_admin("health")["status"] == "Healthy"


def test_the_health_route_tells_a_stranger_the_status_and_nothing_else(
    house: House, client: AsgiClient
) -> None:
    assert client.request("GET", "/health").json == {"status": "Loading"}
    load_all(house)

    answer = client.request("GET", "/health")

    assert (answer.status, answer.json) == (200, {"status": "Healthy"})


def test_the_health_route_gives_a_key_the_full_report(house: House, client: AsgiClient) -> None:
    headers = [("X-Api-Key", key_of("reader"))]

    answer = client.request("GET", "/health", headers=headers)

    assert answer.json == house.door("reader")("health")
    wrong = client.request("GET", "/health", headers=[("X-Api-Key", "wrong")])
    assert (wrong.status, wrong.json["error"]["code"]) == (401, "notAuthenticated")


def test_health_is_503_when_no_store_can_be_served(house: House, client: AsgiClient) -> None:
    for project in house.catalog.projects:
        house.entries_file(project).mkdir(parents=True)
        house.door("admin", project).send("listEntries", {})
    with pytest.raises(Exception, match="cannot be opened"):
        house.store("closed")

    answer = client.request("GET", "/health")

    assert (answer.status, answer.json) == (503, {"status": "Unhealthy"})
