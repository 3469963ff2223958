"""Orders of backups: those that come while one is made wait for it."""

import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.config.toml_change import put
from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind
from qms.features.backups.queue import Job, Requester
from tests.support.house import Clock
from tests.support.waiting import eventually
from tests.support.workshop import PROJECT, Workshop


@pytest.fixture
def workshop(tmp_path: Path, clock: Clock) -> Iterator[Workshop]:
    """A project whose orders wait until `desk.work` is called."""
    one = Workshop(tmp_path, clock, Disk(), in_background=True)
    yield one
    one.close()


def states(workshop: Workshop) -> dict[str, str]:
    return {job.id: job.state.value for job in workshop.queue.jobs([PROJECT])}


def order(workshop: Workshop, mode: BackupKind = BackupKind.DIFFERENTIAL) -> Job:
    return workshop.queue.order(PROJECT, mode, Requester("tester"))


def test_an_order_waits_for_the_backup_that_is_made_and_takes_further_ones_in(
    workshop: Workshop,
) -> None:
    workshop.write(a="1")
    first = order(workshop)
    with workshop.queue.busy:
        worker = threading.Thread(target=workshop.queue.work)
        worker.start()
        eventually(lambda: states(workshop) == {first.id: "running"})

        second = order(workshop)
        third = order(workshop, BackupKind.FULL)

        assert states(workshop) == {first.id: "running", second.id: "queued"}
        assert (third.id, third.mode) == (second.id, BackupKind.FULL)
        workshop.write(a="2")
    worker.join()

    assert states(workshop) == {first.id: "done", second.id: "done"}
    assert workshop.verify(second.id).mode is BackupKind.FULL


def test_only_the_first_backup_of_a_project_is_full_whatever_was_asked_for(
    workshop: Workshop,
) -> None:
    workshop.write(a="1")

    assert order(workshop).mode is BackupKind.FULL
    workshop.queue.work()
    assert order(workshop).mode is BackupKind.DIFFERENTIAL


def schedule(workshop: Workshop, *, cadence: str = "0 3 * * *", keep: int = 14) -> None:
    """Have a backup made by the clock, and the newest ones kept."""

    def change(text: str) -> str:
        text = put(text, ("global", "backup", "cadence"), cadence)
        return put(text, ("global", "backup", "keep"), keep)

    workshop.configuration.edit(change)


def test_backups_go_on_by_the_clock_after_it_was_set_back(workshop: Workshop) -> None:
    schedule(workshop)
    workshop.write(a="1")
    workshop.clock.move(days=30)
    workshop.queue.work()
    workshop.clock.move(days=-30)
    workshop.queue.work()

    workshop.clock.move(days=1)
    workshop.queue.work()

    assert len(workshop.queue.backup_folder.ids(PROJECT)) == 1


def test_what_a_person_orders_takes_no_other_backup_away(workshop: Workshop) -> None:
    schedule(workshop, keep=1)
    for number in range(3):
        workshop.write(a=f"{number}")
        order(workshop, BackupKind.FULL)
        workshop.queue.work()

    assert len(workshop.queue.backup_folder.ids(PROJECT)) == 3


class KeepingDisk(Disk):
    """A disk that takes one backup away and then no more."""

    removals = 0

    def rename(self, source: Path, target: Path) -> None:
        if target.name.startswith(".partial"):
            self.removals += 1
            if self.removals > 1:
                raise OSError(errno.EIO, "Input/output error")
        super().rename(source, target)


def test_a_pruning_that_fails_leaves_no_backup_without_its_parent(
    tmp_path: Path, clock: Clock
) -> None:
    workshop = Workshop(tmp_path, clock, KeepingDisk())
    modes = ["full", "differential", "differential", "full"]
    for number, mode in enumerate(modes):
        workshop.write(a=f"{number}")
        workshop.back_up(mode)

    with pytest.raises(OSError, match="Input/output"):
        workshop.queue.prune(PROJECT, keep=1)

    left = workshop.queue.backup_folder.ids(PROJECT)
    assert len(left) == 3
    for backup_id in left:
        workshop.verify(backup_id)
    workshop.close()
