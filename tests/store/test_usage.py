"""How often entries were read: in RAM, saved as a whole, and worth nothing but ranking."""

import errno
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.store.usage import SAVE_S, Usage, Use

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "usage.json"


def test_touches_are_counted_and_the_last_one_remembered(path: Path) -> None:
    usage = Usage(Disk(), path)

    usage.touch(["p:a", "p:b"], NOW)
    usage.touch(["p:a"], NOW + timedelta(hours=1))

    assert usage.of("p:a") == Use(2, NOW + timedelta(hours=1))
    assert usage.of("p:c") is None
    assert dict(usage.counts) == {"p:a": 2, "p:b": 1}
    assert not path.exists()


def test_what_was_saved_is_there_the_next_time_without_entries_that_are_gone(path: Path) -> None:
    usage = Usage(Disk(), path)
    usage.touch(["p:a", "p:gone"], NOW)
    usage.save({"p:a"})

    again = Usage(Disk(), path)

    assert again.of("p:a") == Use(1, NOW)
    assert again.of("p:gone") is None


def test_a_save_is_due_a_while_after_the_last_one_and_only_for_something(path: Path) -> None:
    usage = Usage(Disk(), path)
    assert usage.due_in(0.0) == math.inf

    usage.touch(["p:a"], NOW)
    assert usage.due_in(100.0) <= 0
    usage.save({"p:a"}, 100.0)

    assert usage.due_in(100.0) == math.inf
    usage.touch(["p:a"], NOW)
    assert usage.due_in(101.0) == SAVE_S - 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format":2,"entries":{}}', b'{"format":1,"entries":[1]}']
)
def test_a_file_that_cannot_be_read_begins_anew(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    usage = Usage(Disk(), path)
    usage.touch(["p:a"], NOW)
    usage.save({"p:a"})

    assert dict(Usage(Disk(), path).counts) == {"p:a": 1}


def test_a_disk_that_takes_nothing_is_tried_again(path: Path) -> None:
    class Full(Disk):
        is_full = True

        def put(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
            if self.is_full:
                raise OSError(errno.ENOSPC, "No space left on device")
            super().put(path, data, mode=mode)

    disk = Full()
    usage = Usage(disk, path)
    usage.touch(["p:a"], NOW)
    usage.save({"p:a"}, 0.0)
    assert not path.exists()
    assert usage.due_in(SAVE_S) <= 0

    disk.is_full = False
    usage.save({"p:a"}, SAVE_S)

    assert dict(Usage(Disk(), path).counts) == {"p:a": 1}


def gone(usage: Usage) -> None:
    usage.save({"p:other"})


def erased(usage: Usage) -> None:
    usage.forget("p:a", {"p:other"})


@pytest.mark.parametrize("leaves", [gone, erased])
def test_an_entry_made_anew_under_an_old_id_begins_without_rewards(
    path: Path, leaves: Callable[[Usage], None]
) -> None:
    usage = Usage(Disk(), path)
    usage.touch(["p:a"] * 5, NOW)
    usage.reward("p:a", 5)
    leaves(usage)

    usage.touch(["p:a"], NOW)

    assert usage.of("p:a") == Use(1, NOW)
