"""The power fails: any prefix of what was asked of the disk, what was not synced dropped."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import pytest

from qms.disk.append_log import AppendLog
from qms.store.memory_store import MemoryStore
from tests.support.power_loss import Model, Outcome, RecordingDisk, Step
from tests.support.script import Teller, allowed_states, deleted_by
from tests.support.stores import (
    State,
    UnsyncedDisk,
    abandon,
    applied,
    open_store,
    state_of,
    write,
)

NEXT = {"next": "written after the crash"}


class Checker:
    """Opens the store in each state that a disk may be left in, and compares."""

    def __init__(self, folder: Path) -> None:
        self.checked: dict[tuple[object, ...], None] = {}
        self._folder = folder

    def check(self, outcome: Outcome, allowed: list[State], moment: str) -> None:
        """Check one outcome unless an equal one was checked."""
        key = (outcome.folders, tuple(sorted(outcome.files.items())), str(allowed))
        if key in self.checked:
            return
        self.checked[key] = None
        root = self._folder / f"o{len(self.checked)}"
        outcome.write_to(root)
        moment = f"{outcome.name} after {moment}"
        store = open_store(root / "p", disk=UnsyncedDisk())
        found = state_of(store)
        assert found in allowed, f"{moment}: found {found}, not one of {allowed}"
        assert store.status().conflicts == 0, f"{moment}: {store.conflicts()}"
        assert not store.status().held, f"{moment}: {store.problems()}"
        write(store, {**NEXT})
        store.close()
        deleted = deleted_by(applied(found, {"next": None}))
        archived = AppendLog(UnsyncedDisk(), root / "p" / "archive.jsonl").read()
        texts = {line["entry"]["body"]["text"] for line in archived}
        assert deleted <= texts, f"{moment}: not archived"
        store = open_store(root / "p", disk=UnsyncedDisk())
        assert state_of(store) == applied(found, {**NEXT}), f"{moment}, and a write and a fold"
        abandon(store)


def record(folder: Path, *, forgets: str = "", exchanges: bool = True) -> list[Step]:
    """Tell the story to a recorder; return what was asked of the disk and what was answered."""
    folder.mkdir()
    disk = RecordingDisk(folder, forgets=forgets, exchanges=exchanges)

    Teller(folder / "p", disk, hear=partial(disk.note, "report"), saved=disk.note_save).tell()
    return disk.steps


def moments(steps: list[Step]) -> Iterator[tuple[Model, list[State], str]]:
    """Yield the disk after each step, with what the store may hold then."""
    model = Model()
    report: list[str] = []
    for number, step in enumerate(steps):
        if step[0] == "report":
            report.append(str(step[1]))
        else:
            model.follow(step)
        yield model, allowed_states(report), f"step {number} {step[:3]!r:.80}"


def lose_power_everywhere(folder: Path, *, forgets: str = "", exchanges: bool = True) -> int:
    """Check every outcome of a power loss after every step; return how many there were."""
    checker = Checker(folder)
    steps = record(folder / "recorded", forgets=forgets, exchanges=exchanges)
    for model, allowed, moment in moments(steps):
        for outcome in model.outcomes():
            checker.check(outcome, allowed, moment)
    return len(checker.checked)


def lose_power_after_a_kill(folder: Path, *, forgets: str = "") -> int:
    """Kill after every step, start again, and lose the power then."""
    checker = Checker(folder)
    known: set[tuple[object, ...]] = set()
    for model, allowed, moment in moments(record(folder / "recorded", forgets=forgets)):
        killed = next(model.outcomes())
        unsynced = tuple(file.synced for file in model.files), tuple(model.synced_names.items())
        key = (*sorted(killed.files.items()), unsynced)
        if key in known:
            continue
        known.add(key)
        for goes_on in (False, True):
            root = folder / f"k{len(known)}-{goes_on}"
            killed.write_to(root)
            after, found = start_again(root, model.copy(), forgets, goes_on=goes_on)
            assert applied(found, {"next": None}) in allowed, moment
            for outcome in after.outcomes():
                checker.check(outcome, [found], f"a kill after {moment} and a start")
    return len(checker.checked)


def start_again(root: Path, model: Model, forgets: str, *, goes_on: bool) -> tuple[Model, State]:
    """Open the store that a kill left, and write or fold; return the disk and what was there."""
    disk = RecordingDisk(root, forgets=forgets)
    store = open_store(root / "p", disk=disk)
    if goes_on:
        write(store, {**NEXT})
        found = state_of(store)
        abandon(store)
    else:
        found = state_of(store)
        store.close()
    for step in disk.steps:
        model.follow(step)
    return model, found


@pytest.mark.fault("F06")
def test_what_was_answered_survives_a_power_loss_at_any_moment(tmp_path: Path) -> None:
    assert lose_power_everywhere(tmp_path) > 150


@pytest.mark.fault("F06")
def test_it_survives_where_two_files_cannot_be_exchanged(tmp_path: Path) -> None:
    assert lose_power_everywhere(tmp_path, exchanges=False) > 150


@pytest.mark.fault("F06")
def test_it_survives_a_kill_and_then_a_power_loss(tmp_path: Path) -> None:
    assert lose_power_after_a_kill(tmp_path) > 150


@pytest.mark.fault("F06")
def test_it_survives_a_failed_sync_and_then_a_power_loss(tmp_path: Path) -> None:
    checker = Checker(tmp_path)
    number, syncs = 0, 1
    while number < syncs:
        number += 1
        disk = tell_beginning(tmp_path / f"f{number}", fails_at=number)
        syncs = disk.syncs
        after = islice(moments(disk.steps), disk.failed_at, None)
        for model, allowed, moment in after:
            for outcome in list(model.outcomes())[1:3]:
                checker.check(outcome, allowed, f"the failure of sync {number} and {moment}")

    assert number > 20


def tell_beginning(root: Path, fails_at: int) -> RecordingDisk:
    """Tell the story up to its second fold on a disk one of whose syncs fails."""
    root.mkdir()
    disk = RecordingDisk(root, fails_at=fails_at)
    hear = partial(disk.note, "report")
    Teller(root / "p", disk, hear=hear, mend=MemoryStore.recover, beginning_only=True).tell()
    return disk


@pytest.mark.fault("F06")
@pytest.mark.parametrize(
    "forgotten",
    [
        "journal.wal",
        "journal.wal.tmp",
        "entries.jsonl.tmp",
        "base.json.tmp",
        "folding.json.tmp",
        ".qms/",
    ],
)
def test_without_one_of_the_syncs_the_check_fails(tmp_path: Path, forgotten: str) -> None:
    with pytest.raises(AssertionError):
        lose_power_everywhere(tmp_path, forgets=forgotten)


@pytest.mark.fault("F06")
def test_without_the_sync_of_the_folder_the_check_fails(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        lose_power_everywhere(tmp_path, forgets="p/")
