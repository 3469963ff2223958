"""Going back in time: any moment of any history comes out as it was."""

import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.features.backups.plan import PRE_RESTORE
from qms.features.backups.restore import Difference
from tests.support.house import Clock
from tests.support.stores import UnsyncedDisk
from tests.support.workshop import PROJECT, State, Workshop

IDS = ("a", "b", "c")

Step = tuple[str, str, str]

STEPS = st.tuples(
    st.sampled_from(
        [
            *("put", "put", "put", "delete", "both", "hand", "fold", "full", "differential"),
            *("restart", "restore", "lose log"),
        ]
    ),
    st.sampled_from(IDS),
    st.integers(0, 999).map(str),
)


class Oracle:
    """A workshop, and what it held after each step."""

    def __init__(self, root: Path) -> None:
        self.shop = Workshop(root, Clock(), UnsyncedDisk())
        self.known: list[tuple[datetime, State]] = []
        self.gaps: list[tuple[datetime, datetime]] = []
        """Times of which writes are not known: from the last backup to the loss of the log."""
        self._last_backup = self.shop.clock.now

    def run(self, steps: list[Step]) -> None:
        self.shop.write(a="0")
        self._back_up("full")
        self._note()
        for verb, local, text in steps:
            self.shop.clock.move(minutes=1)
            self._do(verb, local, text)
            self._note()

    def _note(self) -> None:
        self.known.append((self.shop.clock.now, self.shop.state()))

    def _back_up(self, mode: str) -> None:
        self.shop.back_up(mode)
        self._last_backup = self.shop.clock.now

    def _do(self, verb: str, local: str, text: str) -> None:
        shop = self.shop
        match verb:
            case "put":
                shop.write(**{local: text})
            case "delete":
                shop.write(**{local: None})
            case "both":
                shop.write(**dict.fromkeys(IDS, text))
            case "hand" if local in shop.state():
                shop.edit_by_hand(local, text)
            case "fold":
                shop.store.fold()
            case "full" | "differential":
                self._back_up(verb)
            case "restart":
                shop.restart()
            case "restore":
                shop.restore(at=self.known[int(text) % len(self.known)][0])
            case "lose log":
                self._lose_log()

    def _lose_log(self) -> None:
        self.shop.restart()
        self.shop.store.fold()
        self.shop.catalog.remove("p")
        (self.shop.root / "MemoryStores" / "p" / ".qms" / "changes.jsonl").unlink(missing_ok=True)
        self.shop.restart()
        self.gaps.append((self._last_backup, self.shop.clock.now))
        self._back_up("differential")

    def is_known(self, moment: datetime) -> bool:
        return not any(begin <= moment < end for begin, end in self.gaps)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.lists(STEPS, min_size=1, max_size=14), st.data())
def test_every_moment_of_a_history_comes_back_as_it_was(
    steps: list[Step], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(Path(folder))
        oracle.run([step for step in steps if step[0] != "restore" or not _loses(steps)])
        shop = oracle.shop
        shop.clock.move(minutes=1)
        chosen = data.draw(st.lists(st.sampled_from(oracle.known), min_size=1, max_size=4))
        for moment, expected in chosen:
            between = moment + timedelta(seconds=data.draw(st.integers(0, 59)))
            if not oracle.is_known(between):
                continue
            done = shop.restore(at=between)
            assert shop.state() == expected
            assert done.past.is_exact
            shop.clock.move(minutes=1)
        shop.verify(shop.back_up())
        shop.close()


def _loses(steps: list[Step]) -> bool:
    """Say whether the log gets lost: then a restore inside the history may meet a gap."""
    return any(verb == "lose log" for verb, _, _ in steps)


def test_a_moment_in_a_gap_gives_the_state_before_it_and_says_so(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "root", Clock(), UnsyncedDisk())
    shop.write(a="known")
    shop.back_up()
    shop.clock.move(hours=1)
    shop.write(a="lost")
    moment = shop.clock.now
    shop.clock.move(hours=1)
    shop.restart()
    shop.catalog.remove("p")
    (tmp_path / "root" / "MemoryStores" / "p" / ".qms" / "changes.jsonl").unlink()
    shop.restart()
    shop.back_up()
    done = shop.restore(at=moment)

    assert not done.past.is_exact
    assert shop.state() == {"a": "known"}
    shop.close()


@pytest.mark.fault("F22")
def test_a_restore_and_an_upsert_of_the_same_entry_lose_nothing(tmp_path: Path) -> None:
    shop = Workshop(tmp_path / "root", Clock(), UnsyncedDisk())
    shop.write(a="old")
    made = shop.back_up()
    shop.clock.move(hours=1)
    shop.write(a="meanwhile")
    moment = shop.clock.now
    shop.clock.move(hours=1)
    shop.restore(made)
    shop.write(a="after")

    assert shop.state() == {"a": "after"}
    shop.clock.move(hours=1)
    shop.restore(at=moment)
    assert shop.state() == {"a": "meanwhile"}
    shop.close()


class InterruptingDisk(UnsyncedDisk):
    """Lets somebody write while the state before a restore is being kept."""

    def __init__(self) -> None:
        self.writes: list[Callable[[], None]] = []

    def make_folder(self, path: Path) -> None:
        super().make_folder(path)
        if self.writes and path.parent.name.startswith(PRE_RESTORE):
            self.writes.pop()()


@pytest.mark.fault("F22")
def test_a_restore_goes_back_from_what_was_written_while_it_worked(tmp_path: Path) -> None:
    disk = InterruptingDisk()
    shop = Workshop(tmp_path / "root", Clock(), disk)
    shop.write(same="old", other="old")
    made = shop.back_up()
    shop.write(other="new")
    disk.writes.append(lambda: shop.write(same="meanwhile", other="old", added="meanwhile"))

    done = shop.restore(made)

    assert disk.writes == []
    assert shop.state() == {"same": "old", "other": "old"}
    changed, removed = [f"{PROJECT}:same"], [f"{PROJECT}:added"]
    assert done.difference == Difference(added=[], changed=changed, removed=removed)
    shop.close()
