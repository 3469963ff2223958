"""Backups under fire: writes meanwhile, damage, missing and swapped links, a kill in a restore."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from qms.features.backups import plan as planning
from qms.features.backups.backup_manifest import BrokenBackupError, Manifest
from qms.features.backups.files import BackupFolder
from qms.features.backups.past import rebuild
from qms.features.backups.plan import chain
from tests.support.house import Clock
from tests.support.stores import UnsyncedDisk
from tests.support.workshop import PROJECT, State, Workshop

WRITES = 60
PAIR = ("left", "right")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Workshop]:
    made = Workshop(tmp_path / "root", Clock(), UnsyncedDisk())
    yield made
    made.close()


def state_in(shop: Workshop, backup_id: str) -> State:
    links = chain(shop.queue.backup_folder.all(PROJECT), backup_id)
    lines = rebuild(shop.queue.backup_folder, links).lines.values()
    documents = [msgspec.json.decode(line) for line in lines]
    return {one["id"].partition(":")[2]: one["body"]["text"] for one in documents}


def back_up_during_writes(shop: Workshop) -> list[str]:
    """Write pairs of entries, always both in one commit, while backups are made."""
    made: list[str] = []
    shop.write(left="0", right="0")
    made.append(shop.back_up())

    def write() -> None:
        for number in range(1, WRITES):
            shop.write(left=str(number), right=str(number))
            if number % 10 == 0:
                shop.store.fold()

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        made.append(shop.back_up("full" if len(made) % 3 == 0 else "differential"))
    writer.join()
    made.append(shop.back_up())
    return made


@pytest.mark.fault("F19")
def test_a_backup_made_during_writes_is_one_moment_of_the_store(shop: Workshop) -> None:
    made = back_up_during_writes(shop)

    numbers = []
    for backup_id in made:
        shop.verify(backup_id)
        state = state_in(shop, backup_id)
        assert state["left"] == state["right"]
        numbers.append(int(state["left"]))
    assert numbers == sorted(numbers)
    assert numbers[-1] == WRITES - 1


@pytest.mark.fault("F19")
def test_the_check_of_one_moment_can_fail(shop: Workshop) -> None:
    """The control: entries that are copied one after the other are of several moments."""
    shop.write(left="0", right="0")
    first = shop.state()["left"]
    shop.write(left="1", right="1")
    torn = {"left": first, "right": shop.state()["right"]}

    assert torn["left"] != torn["right"]


@pytest.fixture
def chained(shop: Workshop) -> list[str]:
    """A full backup and three differentials."""
    made = []
    for number in range(4):
        shop.write(**{f"e{number}": f"text {number}", "same": str(number)})
        shop.write(gone="x" if number % 2 == 0 else None)
        made.append(shop.back_up())
        shop.clock.move(hours=1)
    return made


def places(shop: Workshop, made: list[str]) -> list[Path]:
    return [path for one in made for path in sorted((shop.backups / one / PROJECT).iterdir())]


@pytest.mark.fault("F19")
def test_one_flipped_byte_anywhere_in_a_chain_is_found(shop: Workshop, chained: list[str]) -> None:
    shop.verify(chained[-1])
    for path in places(shop, chained):
        data = path.read_bytes()
        for position in {0, len(data) // 3, len(data) // 2, len(data) - 2}:
            flipped = bytearray(data)
            flipped[position] ^= 0x04
            path.write_bytes(bytes(flipped))
            with pytest.raises(BrokenBackupError):
                shop.verify(chained[-1])
        path.write_bytes(data)
    shop.verify(chained[-1])


@pytest.mark.fault("F19")
def test_without_the_hash_a_flipped_byte_would_be_believed(
    shop: Workshop, chained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same damage, with nobody comparing hashes."""
    path = shop.backups / chained[0] / PROJECT / "entries.jsonl"
    path.write_bytes(path.read_bytes().replace(b"text 0", b"text 9"))

    def unchecked(self: BackupFolder, manifest: Manifest, name: str) -> bytes:
        file = self.folder(manifest.project, manifest.id) / name
        return file.read_bytes() if name in manifest.files else b""

    monkeypatch.setattr(BackupFolder, "read", unchecked)
    shop.verify(chained[-1])
    assert state_in(shop, chained[-1])["e0"] == "text 9"


@pytest.mark.fault("F19")
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_link_is_found_and_the_next_backup_begins_anew(
    shop: Workshop, chained: list[str], missing: int
) -> None:
    shutil.rmtree(shop.backups / chained[missing])

    with pytest.raises(BrokenBackupError, match=chained[missing]):
        shop.verify(chained[-1])
    made = shop.back_up()
    assert shop.verify(made).entries == len(shop.state())


def swap_parent(shop: Workshop, chained: list[str]) -> None:
    """Put another good backup of the same name and sequence in the place of a parent."""
    other = Workshop(shop.root.parent / "other", Clock(), UnsyncedDisk())
    for number in range(2):
        other.write(**{f"e{number}": f"TEXT {number}", "same": str(number)})
        other.write(gone="x" if number % 2 == 0 else None)
        other.back_up()
        other.clock.move(hours=1)
    other.close()
    for one in chained[:2]:
        shutil.rmtree(shop.backups / one)
        shutil.copytree(other.backups / one, shop.backups / one)


@pytest.mark.fault("F19")
def test_a_swapped_parent_is_found(shop: Workshop, chained: list[str]) -> None:
    swap_parent(shop, chained)

    shop.verify(chained[1])
    with pytest.raises(BrokenBackupError, match="is not the parent"):
        shop.verify(chained[2])


@pytest.mark.fault("F19")
def test_without_the_link_a_swapped_parent_would_be_believed(
    shop: Workshop, chained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same swap, with nobody comparing the parent's hash."""
    swap_parent(shop, chained)
    known = {
        one.id: one.parent.sha256
        for one in shop.queue.backup_folder.all(PROJECT)
        if isinstance(one, Manifest) and one.parent
    }
    monkeypatch.setattr(
        planning, "manifest_digest", lambda one: known[chained[chained.index(one.id) + 1]]
    )

    assert state_in(shop, chained[2])["e0"] == "TEXT 0"


def kill_everywhere(root: Path, backup_id: str, *control: str, stride: int = 7) -> Iterator[Path]:
    """Yield what is left of a root after a restore that was killed, for every n-th operation."""
    command = [sys.executable, "-m", "tests.support.restoring", backup_id, *control]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        status, dies_at = b"9\n", 1 - stride
        while status == b"9\n":
            dies_at += stride
            copy = root.parent / f"killed-{dies_at}"
            shutil.copytree(root, copy)
            process.stdin.write(f"{copy} {dies_at}\n".encode())
            process.stdin.flush()
            status = process.stdout.readline()
            assert status in (b"9\n", b"0\n"), status
            yield copy
            shutil.rmtree(copy)
        process.stdin.close()


def prepared(shop: Workshop) -> tuple[str, State, State]:
    """Return a backup, the state in it, and another one that the store is left in."""
    shop.write(kept="1", changed="before", removed="still here")
    made = shop.back_up()
    past = shop.state()
    shop.clock.move(hours=1)
    shop.write(changed="after", removed=None, added="new")
    present = shop.state()
    shop.close()
    return made, past, present


@pytest.mark.fault("F19")
@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_restore_that_is_killed_anywhere_is_done_or_not_done(shop: Workshop, stride: int) -> None:
    made, past, present = prepared(shop)
    found: list[State] = []
    for root in kill_everywhere(shop.root, made, stride=stride):
        after = Workshop(root, Clock(), UnsyncedDisk())
        after.clock.move(days=2)
        state = after.state()
        assert state in (past, present)
        if state == past:
            kept = [
                one
                for one in after.queue.backup_folder.ids(PROJECT)
                if one.startswith("pre-restore-")
            ]
            after.verify(kept[0])
            assert state_in(after, kept[0]) == present
        if len(found) % 8 == 0:
            after.verify(after.back_up())
        after.close()
        found.append(state)

    assert len(found) > 10
    assert found[0] == present
    assert found[-1] == past


@pytest.mark.fault("F19")
def test_a_restore_entry_by_entry_would_be_caught(shop: Workshop) -> None:
    """The control: without one change set, some kill leaves a state that never was."""
    made, past, present = prepared(shop)
    is_caught = False
    for root in kill_everywhere(shop.root, made, "stepwise", stride=3):
        after = Workshop(root, Clock(), UnsyncedDisk())
        is_caught = is_caught or after.state() not in (past, present)
        after.close()

    assert is_caught
