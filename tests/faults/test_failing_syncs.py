"""The n-th sync fails with EIO, for every n."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from qms.store.memory_store import MemoryStore
from tests.support.failing_disks import FailingSyncs
from tests.support.script import Teller, assert_story_whole
from tests.support.stores import abandon


def recover(store: MemoryStore) -> None:
    assert store.recover()
    assert not store.is_read_only


def tell_with(folder: Path, disk: FailingSyncs) -> None:
    """Tell the story on a disk one of whose syncs fails, and check that nothing was hidden."""
    teller = Teller(folder, disk, mend=recover)
    teller.tell()
    if disk.failed_file == "journal.wal":
        assert teller.refusals + teller.postponed == 1, "a change was answered without its sync"
    assert disk.repeated == [], "synced again through the same descriptor"
    abandon(teller.store)
    assert_story_whole(folder)


def tell_with_each(folder: Path, make: Callable[[int], FailingSyncs]) -> set[str | None]:
    """Tell the story once for each sync that can fail; return the files that met it."""
    failed = set()
    for number in range(1, count_syncs(folder / "whole") + 1):
        disk = make(number)
        tell_with(folder / f"p{number}", disk)
        failed.add(disk.failed_file)
    return failed


def count_syncs(folder: Path) -> int:
    disk = FailingSyncs()
    tell_with(folder, disk)
    return disk.syncs


@pytest.mark.fault("F03")
def test_a_failed_sync_is_no_answer_and_the_store_recovers(tmp_path: Path) -> None:
    failed = tell_with_each(tmp_path, FailingSyncs)

    assert failed >= {"journal.wal", "journal.wal.tmp", "entries.jsonl.tmp", "base.json.tmp"}
    assert "folding.json.tmp" in failed


@pytest.mark.fault("F03")
def test_without_giving_up_the_descriptor_the_check_fails(tmp_path: Path) -> None:
    class Repeating(FailingSyncs):
        def sync(self, descriptor: int) -> None:
            try:
                super().sync(descriptor)
            except OSError:
                super().sync(descriptor)

    with pytest.raises(AssertionError, match="synced again"):
        tell_with_each(tmp_path, Repeating)


@pytest.mark.fault("F03")
def test_without_heeding_the_failure_the_check_fails(tmp_path: Path) -> None:
    class Deaf(FailingSyncs):
        def sync(self, descriptor: int) -> None:
            try:
                super().sync(descriptor)
            except OSError:
                return

    with pytest.raises(AssertionError, match="without its sync"):
        tell_with_each(tmp_path, Deaf)


@pytest.mark.needs("strace")
@pytest.mark.fault("F03")
def test_a_sync_that_the_kernel_fails_is_refused_and_recovered(tmp_path: Path) -> None:
    folder = tmp_path / "p"
    command = ["strace", "-f", "--seccomp-bpf", "-o", str(tmp_path / "trace")]
    command += ["-e", "inject=fdatasync:error=EIO:when=3"]
    command += [sys.executable, "-m", "tests.support.script", str(folder), "mending"]

    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=True)

    assert done.stdout.count(b"m True") == 1
    assert (tmp_path / "trace").read_text(encoding="utf-8").count("(INJECTED)") == 1
    assert_story_whole(folder)
