"""The reload: how long a file that lacks entries has to rest, and whose removal it was."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from qms.store import reload
from qms.store.options import StoreOptions
from tests.support.boxes import StoreBox, statement

SETTLE_S = 10.0
ENTRIES = 8


class Stopwatch:
    """The monotonic clock of a reload, moved by the test."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def stopwatch(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    made = Stopwatch()
    monkeypatch.setattr(reload, "time", SimpleNamespace(monotonic=made.monotonic))
    return made


@pytest.fixture
def box(tmp_path: Path) -> Iterator[StoreBox]:
    """Return a store whose entries are all in its file."""
    made = StoreBox(tmp_path, options=StoreOptions(settle_s=SETTLE_S))
    made.put(*(statement(f"e{number}", f"text {number}") for number in range(ENTRIES)))
    made.fold()
    yield made
    made.close()


def test_a_file_that_lacks_entries_is_taken_after_it_has_rested(
    box: StoreBox, stopwatch: Stopwatch
) -> None:
    box.save_lines(*box.lines()[:5])

    assert not box.store.look().settled
    stopwatch.now += SETTLE_S - 1
    assert not box.store.look().settled
    stopwatch.now += 1
    assert box.store.look().settled
    assert len(box.documents()) == 5


def test_a_file_that_changes_again_has_to_rest_anew(box: StoreBox, stopwatch: Stopwatch) -> None:
    lines = box.lines()
    for count in (3, 4, 5):
        box.save_lines(*lines[:count])
        assert not box.store.look().settled
        stopwatch.now += SETTLE_S - 1

    assert not box.store.look().settled
    assert len(box.documents()) == ENTRIES
    stopwatch.now += 1
    assert box.store.look().settled
    assert len(box.documents()) == 5


def test_a_file_that_was_whole_in_between_has_to_rest_anew(
    box: StoreBox, stopwatch: Stopwatch
) -> None:
    lines = box.lines()
    box.save_lines(*lines[:5])
    assert not box.store.look().settled
    box.save_lines(*lines)
    assert box.store.look().settled
    stopwatch.now += SETTLE_S

    box.save_lines(*lines[:5])

    assert not box.store.look().settled
    assert len(box.documents()) == ENTRIES


def test_what_a_person_put_back_and_took_out_is_no_removal_of_the_server(box: StoreBox) -> None:
    lines = box.lines()
    box.remove("e0")
    for saved in ([lines[0].replace(b"text 0", b"back"), *lines[1:]], lines[1:]):
        box.save_lines(*saved)
        box.store.reload()
    assert box.text("e0") is None

    box.save_lines(lines[0].replace(b"text 0", b"again"), *lines[1:])
    box.store.reload()

    assert box.text("e0") == "again"
    assert box.conflict_texts() == []
