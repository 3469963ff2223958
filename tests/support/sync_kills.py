"""A sync of two roots that is killed before every write, sync, rename and removal it makes.

`python -m tests.support.sync_kills FOLDER [careless]` forks a child for each moment, starts both
sides on what is left, syncs them again, and prints a line of JSON for each: whether the child was
killed, whether the sides were in step before the second sync, what both hold after it, and every
version that is in an entry or an archive. `careless` writes down what is common before it is.
"""

import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from qms.cli import sync_run
from qms.cli.sync_run import Direction, Portions, SyncSide, sync
from qms.memory.access import LOCAL_ADMIN
from qms.memory.validation import version_of
from tests.support.house import Clock, House
from tests.support.lifecycle_kills import MOST, KillingDisk, killed_child
from tests.support.stores import UnsyncedDisk

Story = Callable[[list[House]], None]

SIDES = ("here", "there")
FEW = Portions(apply_entries=2)
"""Several changes a side, with moments between them."""
COMMON = ("changed-here", "changed-there", "changed-twice", "deleted-here", "deleted-there")


def open_sides(folder: Path, disk: UnsyncedDisk) -> list[House]:
    houses = [House(folder / name, Clock(), disk=disk) for name in SIDES]
    for house in houses:
        house.store()
    return houses


def send(house: House, command: str, **request: Any) -> Any:
    return house.gate.call(LOCAL_ADMIN, "projA", command, request)


def remember(house: House, name: str, text: str) -> None:
    send(house, "upsertEntry", entry={"id": name, "kind": "note", "title": name, "body": text})


def side(name: str, house: House) -> SyncSide:
    def call(command: str, request: dict[str, Any]) -> Any:
        return msgspec.json.decode(msgspec.json.encode(send(house, command, **request)))

    return SyncSide(name, call, FEW)


def run(houses: list[House]) -> None:
    ours, theirs = (side(name, house) for name, house in zip(SIDES, houses, strict=True))
    sync(ours, theirs, Direction.MERGE, dry_run=False)


def run_carelessly(houses: list[House]) -> None:
    """Sync with what is common written down first, as if all of it were done already."""
    transfer, postponed = sync_run._transfer, []

    def later(*arguments: Any) -> list[Any]:
        postponed.append(arguments)
        return []

    def hoped_for(ours: dict[str, str], theirs: dict[str, str], _base: Any) -> dict[str, str]:
        return {**theirs, **ours}

    with patch.multiple(sync_run, _transfer=later, next_base=hoped_for):
        run(houses)
    for wanted, source, target in postponed:
        list(transfer(wanted, source, target))


def prepare(folder: Path) -> None:
    """Make two sides that were in step once, and have changed in every way since."""
    for name in SIDES:
        (folder / name).mkdir(parents=True)
    here, _ = houses = open_sides(folder, UnsyncedDisk())
    for name in COMMON:
        remember(here, name, "first")
    run(houses)
    for house, ours in zip(houses, SIDES, strict=True):
        house.clock.move(minutes=1)
        remember(house, f"changed-{ours}", f"by {ours}")
        remember(house, "changed-twice", f"by {ours}")
        remember(house, f"new-{ours}", f"by {ours}")
        send(house, "deleteEntry", id=f"deleted-{ours}")
    for house in houses:
        house.close()


def held(house: House) -> list[str]:
    store = house.store()
    assert store.problems() == []
    return sorted(record.version() for record in store.view.records.values())


def known(house: House) -> list[str]:
    archived = (version_of(one.entry) for one in house.store().archive.entries())
    return [*held(house), *archived]


def outcome(folder: Path) -> dict[str, Any]:
    """Start both sides on what is left and sync them again."""
    houses = open_sides(folder, UnsyncedDisk())
    try:
        in_step = held(houses[0]) == held(houses[1])
        run(houses)
        after = [held(house) for house in houses]
        versions = {version for house in houses for version in known(house)}
        return {"inStep": in_step, "after": after, "known": sorted(versions)}
    finally:
        for house in houses:
            house.close()


def tell_until(root: Path, number: int, tell: Story) -> None:
    disk = KillingDisk()
    houses = open_sides(root, disk)
    disk.left = number
    tell(houses)


def main() -> None:
    folder, careless = Path(sys.argv[1]), sys.argv[2:] == ["careless"]
    tell: Story = run_carelessly if careless else run
    prepare(folder / "before")
    for number in range(1, MOST):
        root = folder / str(number)
        shutil.copytree(folder / "before", root)
        killed, _ = killed_child(partial(tell_until, root, number, tell))
        found = {"killed": killed, **outcome(root)}
        os.write(1, msgspec.json.encode(found) + b"\n")
        if not killed:
            return
    raise AssertionError("the sync never came to its end")


if __name__ == "__main__":
    main()
