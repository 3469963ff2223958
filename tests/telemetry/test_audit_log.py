"""The audit log: complete, chained, and never in the way of a commit."""

import errno
import itertools
import json
import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.disk.disk import Disk
from qms.memory.changes import ChangeSet, Put, Remove
from qms.telemetry import audit_log as audit_module
from qms.telemetry.audit_chain import AuditedChange, AuditEvent, AuditRecord, read_line
from qms.telemetry.audit_log import AuditLog

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


class FaultyDisk(Disk):
    """A disk that refuses to write or to sync on demand, after some bytes of a line."""

    def __init__(self) -> None:
        self.takes_bytes: int | None = None
        self.syncs = True
        self.synced_descriptors: list[int] = []
        self.files_opened = 0

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        self.files_opened += path.name == "audit.jsonl"
        return super().open(path, create=create, mode=mode)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.takes_bytes is None:
            return super().write(descriptor, data)
        if self.takes_bytes == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(descriptor, data[: self.takes_bytes])
        self.takes_bytes -= taken
        return taken

    def sync(self, descriptor: int) -> None:
        self.synced_descriptors.append(descriptor)
        if not self.syncs:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().sync(descriptor)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "audit.jsonl"


def change_set(number: int = 1, user: str = "alice") -> ChangeSet:
    entry = msgspec.Raw(b'{"title":"a secret title","body":{"text":"a secret body"}}')
    return ChangeSet(
        changes=(
            Put(f"p:{number}", entry, "0123456789abcdef", created=True),
            Remove(f"p:old{number}", entry),
        ),
        command="upsertEntry",
        user=user,
        at_utc=NOW,
        agent_id="ai:test",
        key_id="k1",
    )


def records_in(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def numbers_in(path: Path) -> list[tuple[str, int]]:
    return [(record["project"], record["storeSeq"]) for record in records_in(path)]


def filled(path: Path, count: int = 5) -> None:
    log = AuditLog(path, Disk())
    for number in range(1, count + 1):
        log.append("p", number, change_set(number))
    log.close()


def test_a_record_says_who_changed_what_and_nothing_of_the_content(path: Path) -> None:
    filled(path, 1)

    (record,) = records_in(path)
    assert {key: record[key] for key in record if key not in ("hash", "previous")} == {
        "seq": 1,
        "atUtc": "2026-05-01T12:00:00Z",
        "project": "p",
        "storeSeq": 1,
        "user": "alice",
        "agentId": "ai:test",
        "keyId": "k1",
        "command": "upsertEntry",
        "changes": [
            {"op": "create", "id": "p:1", "version": "0123456789abcdef"},
            {"op": "remove", "id": "p:old1", "version": None},
        ],
    }
    assert b"secret" not in path.read_bytes()


def test_each_record_carries_the_hash_of_the_one_before_across_restarts(path: Path) -> None:
    filled(path, 2)
    log = AuditLog(path, Disk())
    log.append("q", 1, change_set())
    log.close()

    records = records_in(path)
    assert [record["seq"] for record in records] == [1, 2, 3]
    assert records[0]["previous"] == "0" * 64
    for earlier, later in itertools.pairwise(records):
        assert later["previous"] == earlier["hash"]
    assert AuditLog(path, Disk()).verify() is None


Tampering = Callable[[list[bytes]], list[bytes]]


def edited(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b"alice", b"mallo") if b'"seq":3,' in line else line for line in lines]


def spaced(lines: list[bytes]) -> list[bytes]:
    return [line.replace(b'"seq":3,', b'"seq": 3,') for line in lines]


def removed(lines: list[bytes]) -> list[bytes]:
    return lines[:2] + lines[3:]


def swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def doubled(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[1], *lines[2:]]


def garbled(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], b"\x00\xff", *lines[3:]]


def cut_off(lines: list[bytes]) -> list[bytes]:
    return lines[:2]


@pytest.mark.attack(71)
@pytest.mark.parametrize("tamper", [edited, spaced, removed, swapped, doubled, garbled, cut_off])
@pytest.mark.parametrize("after_restart", [False, True])
def test_verify_names_the_first_record_that_was_tampered_with(
    path: Path, tamper: Tampering, after_restart: bool
) -> None:
    log = AuditLog(path, Disk())
    for number in range(1, 6):
        log.append("p", number, change_set(number))
    log.sync()
    assert log.verify() is None
    lines = tamper(path.read_bytes().split(b"\n")[:-1])
    path.write_bytes(b"".join(line + b"\n" for line in lines))

    bad = (AuditLog(path, Disk()) if after_restart else log).verify()

    log.close()
    assert bad is not None
    assert (bad.line, bad.seq) == (3, 3)
    assert bad.reason


@pytest.mark.attack(71)
def test_a_tail_rewritten_with_fitting_hashes_does_not_match_what_was_synced(path: Path) -> None:
    filled(path, 3)
    other = path.parent / "forged" / "audit.jsonl"
    filled(other, 2)
    forger = AuditLog(other, Disk())
    forger.append("p", 3, change_set(3, user="mallory"))
    forger.close()
    path.write_bytes(other.read_bytes())

    log = AuditLog(path, Disk())
    bad = log.verify()
    log.complete("p", [(4, change_set(4))])
    later = log.verify()

    log.close()
    assert bad is not None
    assert bad.seq == 3
    assert later is not None


@pytest.mark.attack(71)
def test_records_added_after_a_removal_do_not_heal_the_gap(path: Path) -> None:
    filled(path, 5)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join(lines[:3]) + b"\n")
    log = AuditLog(path, Disk())
    log.complete("p", [(6, change_set(6))])

    bad = log.verify()

    log.close()
    assert bad is not None
    assert bad.seq == 4


@pytest.mark.attack(71)
def test_a_log_that_was_deleted_is_reported(path: Path) -> None:
    filled(path)
    path.unlink()

    bad = AuditLog(path, Disk()).verify()

    assert bad is not None
    assert bad.seq == 1


def test_a_torn_last_line_of_any_length_is_cut_and_the_chain_goes_on(path: Path) -> None:
    filled(path, 3)
    whole = path.read_bytes()
    start = whole.rindex(b"\n", 0, -1) + 1
    (path.parent / "audit.head").unlink()
    for length in range(start, len(whole)):
        path.write_bytes(whole[:length])
        log = AuditLog(path, Disk())
        log.complete("p", [(number, change_set(number)) for number in (1, 2, 3)])
        log.close()

        assert numbers_in(path) == [("p", 1), ("p", 2), ("p", 3)]
        assert log.verify() is None
        (path.parent / "audit.head").unlink()


def test_complete_adds_only_what_is_not_there_yet(path: Path) -> None:
    log = AuditLog(path, Disk())
    log.append("p", 1, change_set(1))
    log.append("q", 1, change_set(1))
    log.append("p", 2, change_set(2))

    log.complete("p", [(number, change_set(number)) for number in (1, 2, 3, 4)])
    log.append("p", 4, change_set(4))

    log.close()
    assert numbers_in(path) == [("p", 1), ("q", 1), ("p", 2), ("p", 3), ("p", 4)]


@pytest.mark.parametrize("with_head", [True, False])
def test_complete_after_a_restart_knows_what_every_project_has(path: Path, with_head: bool) -> None:
    log = AuditLog(path, Disk())
    log.append("p", 7, change_set())
    log.sync()
    for number in range(1, 4):
        log.append("q", number, change_set())
    if not with_head:
        (path.parent / "audit.head").unlink()

    again = AuditLog(path, Disk())
    again.complete("p", [(6, change_set()), (7, change_set()), (8, change_set())])
    again.complete("q", [(number, change_set()) for number in (1, 2, 3, 4)])

    log.close()
    again.close()
    assert numbers_in(path) == [("p", 7), ("q", 1), ("q", 2), ("q", 3), ("p", 8), ("q", 4)]
    assert again.verify() is None


def test_the_start_reads_only_what_was_written_after_the_last_sync(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path, 500)
    log = AuditLog(path, Disk())
    log.append("p", 501, change_set())
    lines_read: list[bytes] = []

    def counting(line: bytes) -> AuditRecord | None:
        lines_read.append(line)
        return read_line(line)

    monkeypatch.setattr(audit_module, "read_line", counting)
    AuditLog(path, Disk()).close()

    log.close()
    assert len(lines_read) == 1


def test_a_store_made_anew_is_audited_from_its_first_record(path: Path) -> None:
    filled(path, 5)
    log = AuditLog(path, Disk())
    log.opened("p", 0)
    log.append("p", 1, change_set())
    log.close()

    assert numbers_in(path)[-2:] == [("p", 5), ("p", 1)]


@pytest.mark.fault("F04")
@pytest.mark.parametrize("room", [0, 1, 100, 450])
def test_a_full_disk_fails_no_append_and_the_next_one_brings_the_record(
    path: Path, room: int
) -> None:
    disk = FaultyDisk()
    log = AuditLog(path, disk)
    log.append("p", 1, change_set(1))
    disk.takes_bytes = room
    log.append("p", 2, change_set(2))

    disk.takes_bytes = None
    log.append("p", 3, change_set(3))

    log.close()
    assert numbers_in(path) == [("p", 1), ("p", 2), ("p", 3)]
    assert log.verify() is None


@pytest.mark.fault("F04")
def test_complete_says_that_the_disk_is_full_so_that_the_journal_is_kept(path: Path) -> None:
    disk = FaultyDisk()
    log = AuditLog(path, disk)
    disk.takes_bytes = 30
    records = [(1, change_set(1)), (2, change_set(2))]
    with pytest.raises(OSError, match="No space left"):
        log.complete("p", records)

    disk.takes_bytes = None
    log.complete("p", records)

    log.close()
    assert numbers_in(path) == [("p", 1), ("p", 2)]
    assert log.verify() is None


@pytest.mark.fault("F04")
def test_what_does_not_fit_into_ram_is_taken_from_the_journal(path: Path) -> None:
    disk = FaultyDisk()
    log = AuditLog(path, disk, max_waiting_changes=5)
    disk.takes_bytes = 0
    for number in range(1, 101):
        log.append("p", number, change_set(number))
    disk.takes_bytes = None
    log.append("p", 101, change_set(101))
    log.complete("p", [(number, change_set(number)) for number in range(1, 51)])
    log.append("p", 102, change_set(102))
    log.complete("p", [(number, change_set(number)) for number in range(51, 103)])
    log.append("p", 103, change_set(103))

    log.close()
    assert numbers_in(path) == [("p", number) for number in range(1, 104)]
    assert log.verify() is None


@pytest.mark.fault("F03")
def test_a_failed_sync_takes_back_what_is_uncertain_and_writes_it_again(path: Path) -> None:
    disk = FaultyDisk()
    log = AuditLog(path, disk)
    log.complete("p", [(1, change_set(1))])
    log.append("q", 1, change_set())
    opened_before = disk.files_opened
    disk.syncs = False
    with pytest.raises(OSError, match="Input/output error"):
        log.complete("p", [(1, change_set(1)), (2, change_set(2))])

    disk.syncs = True
    log.append("p", 3, change_set(3))
    log.complete("p", [(1, change_set(1)), (2, change_set(2)), (3, change_set(3))])
    log.complete("q", [(1, change_set())])

    log.close()
    assert disk.files_opened == opened_before + 1
    assert numbers_in(path) == [("p", 1), ("p", 2), ("p", 3), ("q", 1)]
    assert log.verify() is None


def test_a_log_replaced_under_the_server_is_not_taken_for_durable(path: Path) -> None:
    log = AuditLog(path, Disk())
    log.complete("p", [(1, change_set(1))])
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    log.append("p", 2, change_set(2))
    copy.replace(path)
    with pytest.raises(OSError, match="replaced"):
        log.complete("p", [(2, change_set(2))])

    log.complete("p", [(2, change_set(2))])

    log.close()
    assert numbers_in(path) == [("p", 1), ("p", 2)]
    assert log.verify() is None


def test_a_log_without_its_head_file_still_verifies(path: Path) -> None:
    filled(path)
    (path.parent / "audit.head").write_bytes(b"{half")

    assert AuditLog(path, Disk()).verify() is None


def test_appends_do_not_wait_for_a_sync_in_progress(path: Path) -> None:
    is_syncing, may_end = threading.Event(), threading.Event()

    class SlowDisk(Disk):
        def sync(self, descriptor: int) -> None:
            is_syncing.set()
            assert may_end.wait(30)
            super().sync(descriptor)

    log = AuditLog(path, SlowDisk())
    folding = threading.Thread(target=log.complete, args=("p", [(1, change_set(1))]))
    folding.start()
    assert is_syncing.wait(30)
    log.append("p", 2, change_set(2))
    assert numbers_in(path) == [("p", 1), ("p", 2)]

    may_end.set()
    folding.join(30)
    log.close()
    assert not folding.is_alive()


def test_threads_of_many_projects_make_one_chain(path: Path) -> None:
    log = AuditLog(path, Disk())

    def work(project: str) -> None:
        for number in range(1, 51):
            log.append(project, number, change_set(number))
            if number % 10 == 0:
                log.complete(project, [(number - 1, change_set()), (number, change_set())])

    threads = [threading.Thread(target=work, args=(f"p{index}",)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    log.close()
    assert log.verify() is None
    for index in range(4):
        numbers = [number for project, number in numbers_in(path) if project == f"p{index}"]
        assert numbers == list(range(1, 51))


def event(number: int, project: str = "") -> AuditEvent:
    change = AuditedChange("create", f"users/user{number}", "0123456789abcdef")
    return AuditEvent(
        at_utc=NOW,
        user="alice",
        key_id="k1",
        command="createUser",
        changes=(change,),
        project=project,
    )


def names_of_events(path: Path) -> list[str]:
    records = [record for line in path.read_bytes().splitlines(True) if (record := read_line(line))]
    return [record.changes[0].id for record in records if record.is_event is True]


def test_what_is_done_to_the_server_is_a_record_of_the_same_chain(path: Path) -> None:
    audit = AuditLog(path, Disk())
    audit.append("projA", 1, change_set())
    audit.note(event(1))
    audit.append("projA", 2, change_set(2))
    audit.close()

    again = AuditLog(path, Disk())
    again.note(event(2))

    assert names_of_events(path) == ["users/user1", "users/user2"]
    assert again.verify() is None
    again.close()


def test_an_event_of_a_project_is_not_counted_among_its_commits(path: Path) -> None:
    audit = AuditLog(path, Disk())
    audit.append("projA", 1, change_set())
    for number in range(1, 4):
        audit.note(event(number, project="projA"))
    audit.append("projA", 2, change_set(2))
    audit.close()

    again = AuditLog(path, Disk())
    again.opened("projA", 2)
    again.note(event(4, project="projA"))
    again.append("projA", 3, change_set(3))
    again.close()

    records = [read_line(line) for line in path.read_bytes().splitlines(True)]
    assert {record.project for record in records if record} == {"projA"}
    assert names_of_events(path) == [f"users/user{number}" for number in range(1, 5)]
    assert [one.store_seq for one in records if one and one.is_event is not True] == [1, 2, 3]
    assert again.verify() is None


@pytest.mark.parametrize("what", ["write", "sync"])
def test_an_event_that_the_disk_refuses_is_written_once_the_disk_takes_it(
    path: Path, what: str
) -> None:
    disk = FaultyDisk()
    audit = AuditLog(path, disk)
    audit.note(event(1))
    disk.takes_bytes, disk.syncs = (5, True) if what == "write" else (None, False)

    audit.note(event(2))
    disk.takes_bytes, disk.syncs = None, True
    audit.note(event(3))

    assert names_of_events(path) == ["users/user1", "users/user2", "users/user3"]
    assert audit.verify() is None
    audit.close()


@pytest.mark.fault("F03")
def test_events_that_a_failed_sync_takes_back_are_written_again_in_their_order(path: Path) -> None:
    disk = FaultyDisk()
    audit = AuditLog(path, disk)
    disk.syncs = False
    for number in range(1, 4):
        audit.note(event(number))

    disk.syncs = True
    audit.sync()

    assert names_of_events(path) == [f"users/user{number}" for number in range(1, 4)]
    assert audit.verify() is None
    audit.close()


def test_events_that_wait_for_the_disk_have_a_bound(path: Path) -> None:
    disk = FaultyDisk()
    disk.takes_bytes = 0
    audit = AuditLog(path, disk, max_waiting_events=2)

    for number in range(5):
        audit.note(event(number))
    disk.takes_bytes = None
    audit.sync()

    assert names_of_events(path) == ["users/user0", "users/user1"]
    audit.close()
