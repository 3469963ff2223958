"""Reading the file whole, and putting a new one in its place."""

import os
from pathlib import Path

import pytest

from qms.disk.disk import Disk
from qms.store.base import digest_of
from qms.store.entries_file import EntriesFile


class NoExchange(Disk):
    """A system that cannot swap two files in one step."""

    def exchange(self, first: Path, second: Path) -> bool:
        return False


class Meddler(Disk):
    """A person who saves the file by rename at the worst moments: just before an exchange."""

    def __init__(self, path: Path, *saves: bytes) -> None:
        self.path = path
        self.saves = list(saves)

    def exchange(self, first: Path, second: Path) -> bool:
        if self.saves:
            other = self.path.with_name("editor.tmp")
            other.write_bytes(self.saves.pop(0))
            other.replace(self.path)
        return super().exchange(first, second)


def file_in(
    folder: Path, disk: Disk | None = None, content: bytes | None = b"old\n"
) -> EntriesFile:
    (folder / ".qms").mkdir()
    if content is not None:
        (folder / "entries.jsonl").write_bytes(content)
    return EntriesFile(disk or Disk(), folder, folder / ".qms")


def stage(file: EntriesFile, *chunks: bytes) -> str:
    return file.stage(chunks, file.path.parent / ".qms" / "base.jsonl.tmp").digest


def test_a_missing_file_is_read_as_such(tmp_path: Path) -> None:
    state = file_in(tmp_path, content=None).read()

    assert state is not None
    assert (state.data, state.identity) == (None, None)


def test_an_empty_file_is_not_a_missing_one(tmp_path: Path) -> None:
    state = file_in(tmp_path, content=b"").read()

    assert state is not None
    assert state.data == b""
    assert state.identity is not None


def test_a_file_that_changes_while_it_is_read_is_read_again_later(tmp_path: Path) -> None:
    class Growing(Disk):
        def read(self, path: Path) -> bytes:
            data = super().read(path)
            with path.open("ab") as file:
                file.write(b"more")
            return data

    assert file_in(tmp_path, Growing()).read() is None


def test_a_staged_file_is_nowhere_to_be_seen_until_the_swap(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    digest = stage(file, b"one\n", b"two\n")

    assert file.path.read_bytes() == b"old\n"
    assert digest == digest_of(b"one\ntwo\n")
    assert file.swap(file.identity())
    assert file.path.read_bytes() == b"one\ntwo\n"
    assert not (tmp_path / "entries.jsonl.tmp").exists()


@pytest.mark.parametrize("disk", [Disk(), NoExchange()], ids=["exchange", "replace"])
def test_a_swap_is_refused_when_the_file_is_another_than_expected(
    tmp_path: Path, disk: Disk
) -> None:
    file = file_in(tmp_path, disk)
    expected = file.identity()
    stage(file, b"new\n")
    file.path.write_bytes(b"a person's\n")

    assert not file.swap(expected)
    assert file.path.read_bytes() == b"a person's\n"


@pytest.mark.parametrize("disk", [Disk(), NoExchange()], ids=["exchange", "replace"])
def test_what_is_written_late_into_the_replaced_file_is_found(tmp_path: Path, disk: Disk) -> None:
    file = file_in(tmp_path, disk)
    with file.path.open("r+b") as editor:
        stage(file, b"new\n")
        assert file.swap(file.identity())
        replaced = file.replaced
        assert replaced is not None
        assert file.written_late(replaced) is None
        editor.write(b"late, and longer\n")
        editor.flush()

        assert file.written_late(replaced) == b"late, and longer\n"
        assert file.written_late(replaced) is None
    file.forget(replaced)
    assert list((tmp_path / ".qms").glob("previous*")) == []


def test_a_first_file_is_put_in_place_without_an_old_one(tmp_path: Path) -> None:
    file = file_in(tmp_path, content=None)
    stage(file, b"new\n")

    assert file.swap(None)
    assert file.path.read_bytes() == b"new\n"
    assert file.path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_a_new_file_keeps_the_mode_of_the_old_one(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    file.path.chmod(0o640)
    stage(file, b"new\n")
    file.swap(file.identity())

    assert file.path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot exchange two files")
@pytest.mark.parametrize("saves", [1, 2, 3, 5])
def test_a_save_in_the_moment_of_the_swap_wins(tmp_path: Path, saves: int) -> None:
    texts = [b"save %d\n" % number for number in range(saves)]
    disk = Meddler(tmp_path / "entries.jsonl", *texts)
    file = file_in(tmp_path, disk)
    expected = file.identity()
    stage(file, b"new\n")

    assert not file.swap(expected)
    assert file.path.read_bytes() == texts[-1]
    assert not (tmp_path / "entries.jsonl.tmp").exists()


def test_what_an_interrupted_fold_left_is_found_and_dropped(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    assert file.left_over() is None
    stage(file, b"half a fold\n")

    assert file.left_over() == b"half a fold\n"
    file.drop_staged()
    assert file.left_over() is None


def test_a_save_that_an_interrupted_swap_left_is_kept_aside(tmp_path: Path) -> None:
    file = file_in(tmp_path, content=b"our fold\n")
    for text in (b"a person's save\n", b"another\n"):
        (tmp_path / "entries.jsonl.tmp").write_bytes(text)
        kept = file.keep_left_over()
        assert kept.read_bytes() == text
        assert kept.parent == tmp_path / ".qms"

    assert len(list((tmp_path / ".qms").glob("kept-*.jsonl"))) == 2


def test_a_copy_is_kept_while_the_file_stays(tmp_path: Path) -> None:
    file = file_in(tmp_path)

    assert file.keep_copy().read_bytes() == file.path.read_bytes() == b"old\n"


def test_replaced_files_of_another_process_are_cleared_away(tmp_path: Path) -> None:
    file = file_in(tmp_path)
    stage(file, b"new\n")
    file.swap(file.identity())
    EntriesFile(Disk(), tmp_path, tmp_path / ".qms").forget_all()

    assert list((tmp_path / ".qms").glob("previous-*")) == []
