"""A move between two stores: what it may take back, and what a full disk leaves of it."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.app.jobs import Jobs
from qms.commands.entry_writes import WriteRules
from qms.features.transfer.move import Carrier
from qms.features.transfer.moves_file import Moves
from qms.memory.access import AccessTier, Caller
from qms.memory.entry_input import EntryRules
from qms.memory.visibility import MOVED_FROM, SHOWS_ALL
from qms.store.options import Origin
from qms.store.view import Record
from tests.support.house import Clock, Door, House
from tests.support.stores import UnsyncedDisk


def carrier(house: House) -> Carrier:
    """Return what carries entries of projA to projB for a writer."""
    endpoint = house.configuration.settings.find_endpoint("projB")
    assert endpoint is not None
    caller = Caller(user="writer", access=AccessTier.WRITER)
    rules = EntryRules(project=endpoint.slug)
    now = house.clock.now
    return Carrier(
        source=house.store("projA"),
        target=house.store("projB"),
        endpoint=endpoint,
        writing=WriteRules(caller=caller, now=now, rules=rules, endpoint=endpoint),
        origin=Origin(command="moveEntry", user="writer", at_utc=now, right=caller.access),
        visibility=SHOWS_ALL,
    )


def stored(door: Door) -> str:
    made: str = door("upsertEntry", entry={"id": "seed", "kind": "note", "body": "text"})["id"]
    return made


def found(house: House, project: str) -> Record | None:
    return house.store(project).view.get(f"{project}:seed")


def placed(house: House) -> Record:
    """Put the entry into the target, as the first half of a move does."""
    record = found(house, "projA")
    assert record is not None
    return carrier(house).place(record, "projB:seed", MOVED_FROM).record


def test_a_move_that_is_given_up_takes_back_what_it_placed(house: House, as_writer: Door) -> None:
    stored(as_writer)

    carrier(house).take_back(placed(house))

    assert found(house, "projB") is None


def test_a_move_that_is_given_up_leaves_what_was_changed_in_the_target_meanwhile(
    house: House, as_writer: Door
) -> None:
    stored(as_writer)
    record = placed(house)
    as_writer.at("projB")("patchEntry", id="seed", patch={"tags": ["changed there"]})

    carrier(house).take_back(record)

    kept = found(house, "projB")
    assert kept is not None
    assert kept.document()["tags"] == ["changed there"]


class FullSource(UnsyncedDisk):
    """Has no room in one file while it is told so."""

    def __init__(self) -> None:
        self.full: Path | None = None
        self._paths: dict[int, Path] = {}

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        descriptor = super().open(path, create=create, mode=mode)
        self._paths[descriptor] = path
        return descriptor

    def close(self, descriptor: int) -> None:
        del self._paths[descriptor]
        super().close(descriptor)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if self.full is not None and self._paths[descriptor] == self.full:
            raise OSError(errno.ENOSPC, "full")
        return super().write(descriptor, data)


@pytest.fixture
def disk() -> FullSource:
    return FullSource()


@pytest.fixture
def small(tmp_path: Path, clock: Clock, disk: FullSource) -> Iterator[House]:
    built = House(tmp_path, clock, disk=disk)
    yield built
    built.close()


@pytest.mark.fault("F04")
def test_a_move_that_a_full_disk_cut_off_is_finished_when_there_is_room(
    small: House, disk: FullSource
) -> None:
    writer = small.door("writer")
    made = stored(writer)
    small.store("projB")
    disk.full = small.entries_file("projA").parent / ".qms" / "journal.wal"
    assert writer.fails("moveEntry", id=made, toProject="projB").code == "storageFull"
    assert found(small, "projA") is not None
    assert found(small, "projB") is not None

    disk.full = None
    assert small.store("projA").recover()
    Jobs(small.catalog, lambda: small.configuration.settings, small.clock).tick()

    assert found(small, "projA") is None
    assert found(small, "projB") is not None
    assert not small.store("projA").features.get(Moves)
