"""An upgrade copies the data first, and can go back to it without throwing anything away."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.platforms.setup import data_copy
from qms.resources import TEMPLATE_NAME, find_resource

NOW = datetime(2026, 11, 16, 12, 30, tzinfo=UTC)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    root = tmp_path / "data"
    store = root / "MemoryStores" / "shared"
    (store / "indexes").mkdir(parents=True)
    (store / ".qms").mkdir()
    (root / ".qms").mkdir()
    template = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
    (root / "QuickMemoryServer.toml").write_text(template, encoding="utf-8")
    (store / "entries.jsonl").write_bytes(b"first\r\n")
    (store / ".qms" / "journal.wal").write_bytes(b"journal")
    (store / "indexes" / "vectors.dat").write_bytes(b"cache")
    (root / ".qms" / "lock").write_bytes(b"")
    (root / ".qms" / "keys.json").write_bytes(b"{}")
    return root


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_copy_has_settings_and_stores_without_caches(data: Path) -> None:
    copy = data_copy.take(data, NOW, Disk())

    folder = data / "Backups" / "upgrade-20261116T123000Z"
    assert Path(copy.folder) == folder
    assert files_of(folder) == {
        "upgrade.json",
        "QuickMemoryServer.toml",
        ".qms/keys.json",
        "stores/shared/entries.jsonl",
        "stores/shared/.qms/journal.wal",
    }


def test_going_back_restores_every_byte_and_keeps_what_the_newer_version_wrote(data: Path) -> None:
    copy = data_copy.take(data, NOW, Disk())
    store = data / "MemoryStores" / "shared"
    (store / "entries.jsonl").write_bytes(b"migrated\n")
    (store / "new-format.bin").write_bytes(b"new")
    (data / "QuickMemoryServer.toml").write_text("broken", encoding="utf-8")

    data_copy.put_back(copy, Disk())

    assert (store / "entries.jsonl").read_bytes() == b"first\r\n"
    assert (store / ".qms" / "journal.wal").read_bytes() == b"journal"
    assert not (store / "new-format.bin").exists()
    assert "serviceName" in (data / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    assert (data / ".qms" / "lock").exists()
    failed = Path(copy.folder) / "failed"
    assert (failed / "stores" / "shared" / "entries.jsonl").read_bytes() == b"migrated\n"
    assert (failed / "stores" / "shared" / "new-format.bin").read_bytes() == b"new"
    assert (failed / "QuickMemoryServer.toml").read_text(encoding="utf-8") == "broken"


def test_a_store_that_is_kept_elsewhere_is_copied_from_there(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "entries.jsonl").write_bytes(b"far away\n")
    with (data / "QuickMemoryServer.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[endpoint.far]\nslug = "far"\nstoragePath = "{elsewhere.as_posix()}"\n')

    copy = data_copy.take(data, NOW, Disk())
    (elsewhere / "entries.jsonl").write_bytes(b"")
    data_copy.put_back(copy, Disk())

    assert (elsewhere / "entries.jsonl").read_bytes() == b"far away\n"


def test_settings_that_notepad_has_saved_are_read(data: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "entries.jsonl").write_bytes(b"far away\n")
    settings = data / "QuickMemoryServer.toml"
    text = settings.read_text(encoding="utf-8")
    far = f'\n[endpoint.far]\nslug = "far"\nstoragePath = "{elsewhere.as_posix()}"\n'
    settings.write_text(text + far, encoding="utf-8-sig")

    copy = data_copy.take(data, NOW, Disk())

    assert "stores/far/entries.jsonl" in files_of(Path(copy.folder))


def test_with_a_broken_configuration_the_usual_folder_is_copied(data: Path) -> None:
    (data / "QuickMemoryServer.toml").write_text("[global", encoding="utf-8")

    copy = data_copy.take(data, NOW, Disk())

    assert "stores/shared/entries.jsonl" in files_of(Path(copy.folder))


def test_one_copy_is_kept(data: Path) -> None:
    first = data_copy.take(data, NOW, Disk())
    second = data_copy.take(data, NOW.replace(hour=13), Disk())

    data_copy.forget_older(data, second)

    assert not Path(first.folder).exists()
    assert Path(second.folder).exists()
