"""Bad lines of a file, corrected in their place or taken out."""

from collections.abc import Callable
from pathlib import Path

import pytest

from qms.disk.disk import Disk, FileIdentity
from qms.memory.errors import ConflictError, InvalidInputError, StorageFullError
from qms.store.line_repair import SeenLine
from tests.support.boxes import StoreBox, entry, line_of, statement

BAD = b'{"kind":"fact","body":{"statement":"half'


def fresh_id() -> str:
    return "made"


@pytest.fixture
def spoiled(tmp_store: StoreBox) -> StoreBox:
    """Return a store whose file has a bad line between two entries."""
    write(tmp_store, line_of(entry("a")), BAD, line_of(entry("b")))
    return tmp_store


def write(box: StoreBox, *lines: bytes) -> None:
    box.save_lines(*lines)
    box.store.reload()


def seen(box: StoreBox, number: int) -> SeenLine:
    found = box.store.line_repair.find(number)
    assert found is not None
    return found


def correct(box: StoreBox, line: SeenLine, text: bytes) -> str:
    line_repair = box.store.line_repair
    record = line_repair.correct(line.number, line.version, text, box.origin(), fresh_id)
    return record.header.id


def test_a_corrected_line_is_an_entry_in_its_old_place(spoiled: StoreBox) -> None:
    good = line_of(entry("middle"))

    assert correct(spoiled, seen(spoiled, 2), good) == "p:middle"

    lines = [line_of(entry("a")), good, line_of(entry("b"))]
    assert spoiled.path.read_bytes().splitlines() == lines
    assert spoiled.store.problems() == []
    assert (spoiled.own / "kept-lines.jsonl").read_bytes() == BAD + b"\n"
    assert spoiled.reopen().status().entries == 3


def test_a_line_without_an_id_is_completed(spoiled: StoreBox) -> None:
    text = b'{\n  "kind": "fact",\n  "body": {"statement": "whole"}\n}\n'

    assert correct(spoiled, seen(spoiled, 2), text) == "p:made"

    assert spoiled.documents()["made"]["body"] == {"statement": "whole"}
    assert len(spoiled.path.read_bytes().splitlines()) == 3


def test_a_text_that_is_no_entry_changes_nothing(spoiled: StoreBox) -> None:
    before = spoiled.path.read_bytes()

    with pytest.raises(InvalidInputError, match="is not an entry"):
        correct(spoiled, seen(spoiled, 2), b'{"kind":"none","body":{}}')

    assert spoiled.path.read_bytes() == before
    assert len(spoiled.store.problems()) == 1


def test_a_line_that_is_taken_out_is_kept_beside_the_store(spoiled: StoreBox) -> None:
    line = seen(spoiled, 2)

    spoiled.store.line_repair.take_out(line.number, line.version)

    assert spoiled.path.read_bytes().splitlines() == [line_of(entry("a")), line_of(entry("b"))]
    assert (spoiled.own / "kept-lines.jsonl").read_bytes() == BAD + b"\n"
    assert spoiled.reopen().problems() == []


def test_the_line_is_found_where_it_stands_now(spoiled: StoreBox) -> None:
    line = seen(spoiled, 2)
    others = [line_of(entry(name)) for name in ("new", "a", "b")]
    spoiled.save_lines(others[0], b"also bad", *others[1:], BAD)

    correct(spoiled, line, line_of(entry("last")))

    lines = spoiled.path.read_bytes().splitlines()
    assert lines == [others[0], b"also bad", *others[1:], line_of(entry("last"))]
    assert [one.line for one in spoiled.store.problems()] == [2]


def test_a_line_that_somebody_corrected_meanwhile_is_left_alone(spoiled: StoreBox) -> None:
    line = seen(spoiled, 2)
    theirs = line_of(entry("theirs"))
    spoiled.edit(lambda data: theirs + b"\n" + data.replace(BAD + b"\n", b""))

    with pytest.raises(ConflictError, match="has changed since you read it"):
        correct(spoiled, line, line_of(entry("mine")))

    assert sorted(spoiled.documents()) == ["a", "b", "theirs"]


def test_another_entry_is_never_overwritten(spoiled: StoreBox) -> None:
    with pytest.raises(ConflictError, match="already"):
        correct(spoiled, seen(spoiled, 2), line_of(statement("a", "mine")))

    assert spoiled.text("a") == "Statement of a"


def test_the_entry_whose_own_line_was_spoiled_gets_its_correction(tmp_store: StoreBox) -> None:
    write(tmp_store, line_of(entry("a")), line_of(entry("b")))
    tmp_store.store.fold()
    write(tmp_store, line_of(entry("a"))[:-1], line_of(entry("b")))
    assert tmp_store.text("a") == "Statement of a"

    assert correct(tmp_store, seen(tmp_store, 1), line_of(statement("a", "mended"))) == "p:a"

    lines = [line_of(statement("a", "mended")), line_of(entry("b"))]
    assert tmp_store.path.read_bytes().splitlines() == lines
    assert tmp_store.text("a") == "mended"


def test_the_first_of_two_lines_of_one_id_can_only_be_taken_out(tmp_store: StoreBox) -> None:
    write(tmp_store, line_of(statement("a", "old")), line_of(statement("a", "new")))
    line = seen(tmp_store, 1)

    with pytest.raises(ConflictError, match="already"):
        correct(tmp_store, line, line_of(statement("a", "newest")))
    tmp_store.store.line_repair.take_out(line.number, line.version)

    assert tmp_store.path.read_bytes() == line_of(statement("a", "new")) + b"\n"


class SavingDisk(Disk):
    """A disk on which somebody saves the file at the moment of a swap, so many times."""

    def __init__(self) -> None:
        self.saves: list[Callable[[], object]] = []

    def identity(self, path: Path) -> FileIdentity | None:
        if path.name == "entries.jsonl.tmp" and self.saves:
            self.saves.pop()()
        return super().identity(path)


def test_a_save_at_the_moment_of_the_correction_is_kept(tmp_path: Path) -> None:
    disk = SavingDisk()
    box = StoreBox(tmp_path, disk=disk)
    write(box, line_of(entry("a")), BAD)
    line = seen(box, 2)

    def save() -> None:
        box.save_by_rename(line_of(entry("theirs")) + b"\n" + box.path.read_bytes())

    disk.saves = [save]

    correct(box, line, line_of(entry("mine")))

    assert sorted(box.documents()) == ["a", "mine", "theirs"]
    names = [line_of(entry(name)) for name in ("theirs", "a", "mine")]
    assert box.path.read_bytes().splitlines() == names
    assert disk.saves == []
    box.close()


class FullDisk(Disk):
    """A disk that takes nothing more once it is full."""

    is_full = False

    def append(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
        if self.is_full and path.name == "kept-lines.jsonl":
            raise OSError(28, "No space left on device")
        super().append(path, data, mode=mode)


def test_a_text_that_cannot_be_kept_is_not_replaced(tmp_path: Path) -> None:
    disk = FullDisk()
    box = StoreBox(tmp_path, disk=disk)
    write(box, line_of(entry("a")), BAD)
    line, before = seen(box, 2), box.path.read_bytes()
    disk.is_full = True

    with pytest.raises(StorageFullError, match="cannot be saved"):
        correct(box, line, line_of(entry("mine")))

    assert box.path.read_bytes() == before
    assert "mine" not in box.documents()
    box.close()


def test_a_held_file_is_decided_about_first(tmp_store: StoreBox) -> None:
    write(tmp_store, *(line_of(entry(f"e{number}")) for number in range(12)), BAD)
    tmp_store.store.fold()
    line = seen(tmp_store, 13)
    tmp_store.save_lines(BAD)

    with pytest.raises(ConflictError, match="accept or reject"):
        tmp_store.store.line_repair.take_out(line.number, line.version)
