"""Files that features keep beside the entries: whoever declares one is walked everywhere."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.cli.doctor import Finding, examine
from qms.cli.target import Asked
from qms.config.root import OWN_FOLDER
from qms.features.backups.backup_manifest import Manifest
from qms.features.backups.files import FEATURES_NAME, describe_file
from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.feature_files import DECLARED, Hints, Remarks, write_all
from tests.support.house import Clock, House

ONE, OTHER = "projA:one", "projA:other"


@pytest.fixture
def house(tmp_path: Path, clock: Clock, entry: EntryMaker) -> Iterator[House]:
    """Two entries, with a remark and a hint on each."""
    built = House(tmp_path, clock, feature_files=DECLARED)
    for entry_id in (ONE, OTHER):
        built.door("admin")("upsertEntry", entry=entry(id=entry_id))
        built.store().features.get(Hints).put(entry_id, f"a hint on {entry_id}")
    built.store().features.get(Remarks).put({ONE: "first", OTHER: "second"})
    yield built
    built.close()


def own_folder(house: House) -> Path:
    return house.entries_file().parent / OWN_FOLDER


def back_up(house: House) -> str:
    return str(house.door("admin")("backupStore", mode="full")["backupId"])


def restore(house: House, **wanted: Any) -> Any:
    return Console(house.client, "admin")("POST", "/backups/projA/restore", wanted)


def findings(house: House) -> dict[str, Finding]:
    return {one.check: one for one in examine(house.root, Asked(verb="doctor"), DECLARED)}


def test_an_erasure_forgets_the_entry_in_every_declared_file(house: House) -> None:
    house.door("admin")("eraseEntry", id=ONE)

    assert house.store().features.get(Remarks).all() == {OTHER: "second"}
    assert [path.name for path in (own_folder(house) / "hints").iterdir()] == ["projA-other.txt"]


def test_a_restore_brings_back_what_a_backup_took(house: House, clock: Clock) -> None:
    made = back_up(house)
    clock.move(hours=1)
    house.store().features.get(Remarks).put({ONE: "changed"})

    restored = restore(house, id=made)

    assert house.store().features.get(Remarks).all() == {ONE: "first", OTHER: "second"}
    clock.move(hours=1)
    restore(house, id=restored["keptAs"])
    assert house.store().features.get(Remarks).all() == {ONE: "changed"}


def test_a_restore_to_a_moment_takes_the_newest_backup_before_it(
    house: House, clock: Clock
) -> None:
    back_up(house)
    clock.move(hours=1)
    before = clock.now.isoformat()
    clock.move(hours=1)
    house.store().features.get(Remarks).put({ONE: "later"})
    back_up(house)

    restore(house, at=before)

    assert house.store().features.get(Remarks).all() == {ONE: "first", OTHER: "second"}


def test_a_file_that_was_not_there_is_removed_by_a_restore(house: House, clock: Clock) -> None:
    (own_folder(house) / Remarks.place).unlink()
    made = back_up(house)
    clock.move(hours=1)
    house.store().features.get(Remarks).put({ONE: "new"})

    restore(house, id=made)

    assert house.store().features.get(Remarks).all() == {}


def test_a_backup_takes_no_file_that_is_declared_for_none(house: House) -> None:
    made = back_up(house)

    data = (house.root / "Backups" / made / "projA" / FEATURES_NAME).read_bytes()

    assert Remarks.place.encode() in data
    assert Hints.place.encode() not in data


def test_an_erasure_reaches_the_files_inside_backups(house: House, clock: Clock) -> None:
    made = back_up(house)
    house.door("admin")("eraseEntry", id=ONE)
    clock.move(hours=1)

    restore(house, id=made)

    assert house.store().features.get(Remarks).all() == {OTHER: "second"}


def test_an_erasure_reaches_the_files_of_a_copied_store(house: House) -> None:
    copy = house.root / "Backups" / "20260101T000000000000Z-removed" / "projA"
    (copy / OWN_FOLDER).mkdir(parents=True)
    kept = copy / OWN_FOLDER / Remarks.place
    kept.write_bytes((own_folder(house) / Remarks.place).read_bytes())

    house.door("admin")("eraseEntry", id=ONE)

    assert ONE.encode() not in kept.read_bytes()


def test_a_backup_with_a_path_out_of_its_place_is_not_restored(house: House) -> None:
    made = back_up(house)
    folder = house.queue.backup_folder
    manifest = folder.find("projA", made)
    assert isinstance(manifest, Manifest)
    spoiled = b'{"remarks.json":{"../../escaped":"aGVsbG8="}}'
    described = {**manifest.files, FEATURES_NAME: describe_file(spoiled)}
    folder.rewrite(msgspec.structs.replace(manifest, files=described), {FEATURES_NAME: spoiled})

    refused = Console(house.client, "admin").fails("POST", "/backups/projA/restore", {"id": made})

    assert "outside of its place" in refused.message
    assert not list(house.root.rglob("escaped*"))


@pytest.mark.parametrize("kind", DECLARED, ids=lambda kind: kind.place)
def test_doctor_names_a_damaged_file_of_every_feature(house: House, kind: Any) -> None:
    write_all(house.store().features, ONE)
    place = own_folder(house) / kind.place
    folder = place if place.is_dir() else place.parent
    assert not findings(house)[f"files of {kind.place}"].problem
    (folder / f"{place.name}.damaged").write_bytes(b"what it was")

    found = findings(house)[f"files of {kind.place}"]

    assert "damaged" in found.problem
    assert found.is_fatal is not kind.is_cache


def test_doctor_names_a_file_of_a_feature_that_others_can_read(house: House) -> None:
    path = own_folder(house) / "hints" / "projA-one.txt"
    path.chmod(0o644)

    found = findings(house)["rights on memories"]

    assert found.targets == [str(path)]
