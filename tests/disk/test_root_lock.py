"""The lock of an install root, within one process; tests/faults has two processes."""

import os
from pathlib import Path

import pytest

from qms.disk.root_lock import Owner, acquire, is_held, read_owner
from qms.memory.errors import ConflictError

OWNER = Owner(pid=os.getpid(), command="qms serve", started_utc="2026-01-05T09:00:00Z")


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "root" / ".qms" / "lock"
    assert not is_held(path)
    lock = acquire(path, OWNER)

    assert is_held(path)
    assert read_owner(path) == OWNER
    lock.release()
    assert not is_held(path)
    assert read_owner(path) is None


def test_releasing_twice_does_no_harm(tmp_path: Path) -> None:
    lock = acquire(tmp_path / "lock", OWNER)
    lock.release()
    lock.release()


def test_a_second_owner_is_told_who_the_first_is_and_where(tmp_path: Path) -> None:
    path = tmp_path / "root" / ".qms" / "lock"
    lock = acquire(path, OWNER)
    lock.describe(Owner(pid=7, command="qms serve", started_utc="x", url="http://127.0.0.1:5080"))
    with pytest.raises(ConflictError) as refused:
        acquire(path, OWNER)
    lock.release()

    assert refused.value.details == {
        "pid": 7, "command": "qms serve", "startedUtc": "x", "url": "http://127.0.0.1:5080",
    }  # fmt: skip
    for part in ("process 7", "qms serve", "http://127.0.0.1:5080", str(tmp_path / "root")):
        assert part in refused.value.message


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid":"x"}', b"\xff\x00", b"x" * 5000])
def test_a_damaged_note_does_not_keep_anybody_out_or_let_anybody_in(
    tmp_path: Path, text: bytes
) -> None:
    path = tmp_path / "lock"
    path.write_bytes(text)
    lock = acquire(path, OWNER)
    path.write_bytes(text)

    assert is_held(path)
    with pytest.raises(ConflictError, match="in use by another process"):
        acquire(path, OWNER)
    lock.release()


def test_the_note_of_a_dead_owner_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_bytes(b'{"pid":1,"command":"dead","startedUtc":"x"}' + b" " * 500)
    lock = acquire(path, OWNER)

    assert read_owner(path) == OWNER
    lock.release()
