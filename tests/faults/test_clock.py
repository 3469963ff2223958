"""A clock that jumps: lifespans are instants, order is the journal's sequence."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from qms.memory.retention import is_expired
from qms.store.draft import Draft
from tests.support.boxes import NOW, StoreBox, entry, statement

JUMPS = [timedelta(days=365), timedelta(days=-365), timedelta(seconds=-1), timedelta(0)]


def written(box: StoreBox) -> list[int]:
    return [sequence for sequence, _ in box.store.uncut()]


def latest_title(box: StoreBox) -> str:
    def plan(draft: Draft) -> str:
        found = draft.find_by_title("fact", None, "Same")
        assert found is not None
        return found.header.id

    return box.store.commit(box.origin(), plan)


def stamped(box: StoreBox, local: str, text: str, **overrides: object) -> dict[str, object]:
    at = box.clock().isoformat()
    times = {"createdUtc": at, "updatedUtc": at}
    return statement(local, text, timestamps=times, **overrides)


@pytest.mark.fault("F18")
@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_writes_keep_their_order_over_a_jump(tmp_store: StoreBox, jump: timedelta) -> None:
    tmp_store.put(stamped(tmp_store, "a", "one", title="Same"))
    tmp_store.clock.now += jump
    tmp_store.put(stamped(tmp_store, "b", "two", title="Same"))
    tmp_store.put(stamped(tmp_store, "a2", "x"))
    tmp_store.put(stamped(tmp_store, "a2", "y"))

    assert written(tmp_store) == [1, 2, 3, 4]
    assert latest_title(tmp_store) == "p:b"
    tmp_store.crash()
    tmp_store.open()
    assert written(tmp_store) == [1, 2, 3, 4]
    assert latest_title(tmp_store) == "p:b"
    assert tmp_store.text("a2") == "y"
    tmp_store.put(entry("c"))
    assert tmp_store.store.view.sequence == 5


@pytest.mark.fault("F18")
@pytest.mark.parametrize("jump", JUMPS, ids=str)
def test_a_fold_and_a_hand_edit_do_not_care_about_the_clock(
    tmp_store: StoreBox, jump: timedelta
) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    tmp_store.clock.now += jump
    tmp_store.put(statement("b", "ours"))
    tmp_store.edit(lambda data: data.replace(b"one", b"by hand"))
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.clock.now -= jump * 2
    tmp_store.reopen()

    assert (tmp_store.text("a"), tmp_store.text("b")) == ("by hand", "ours")
    assert tmp_store.store.conflicts() == []


@pytest.mark.fault("F18")
@pytest.mark.parametrize("jump", [timedelta(days=365), timedelta(days=-365)], ids=str)
def test_an_end_is_an_instant_and_not_a_countdown(tmp_store: StoreBox, jump: timedelta) -> None:
    end = NOW + timedelta(hours=6)
    tmp_store.put(entry("a", ttlUtc=end.isoformat()))
    tmp_store.clock.now += jump
    tmp_store.reopen()
    record = tmp_store.store.view.get("p:a")
    assert record is not None

    assert is_expired(record.header, tmp_store.clock()) is (jump > timedelta(0))
    tmp_store.clock.now -= jump
    assert not is_expired(record.header, tmp_store.clock())
    assert is_expired(record.header, end)


@pytest.mark.fault("F18")
def test_an_order_by_the_clock_would_be_wrong_after_a_jump_back(tmp_store: StoreBox) -> None:
    tmp_store.put(stamped(tmp_store, "a", "one", title="Same"))
    tmp_store.clock.advance(days=-365)
    tmp_store.put(stamped(tmp_store, "b", "two", title="Same"))
    records = tmp_store.store.view.records.values()
    by_clock = max(records, key=lambda record: record.header.timestamps.updated_utc)

    assert by_clock.header.id == "p:a"
    assert latest_title(tmp_store) == "p:b"


CHILD = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tests.support.boxes import Clock, StoreBox, statement

box = StoreBox(Path(sys.argv[1]), clock=Clock(datetime.now(UTC)))
before = box.text("a")
box.put(statement("a", sys.argv[2]))
box.store.reload()
if len(sys.argv) > 3:
    box.close()
print(datetime.now(UTC).year, before)
"""


@pytest.mark.fault("F18")
@pytest.mark.needs("faketime")
def test_processes_with_other_clocks_go_on_with_the_same_store(tmp_path: Path) -> None:
    years = []
    texts = []
    for number, year in enumerate(["2030", "2020"]):
        close = ["close"] if number % 2 else []
        child = [sys.executable, "-c", CHILD, str(tmp_path), f"text {number}", *close]
        result = subprocess.run(
            ["faketime", f"{year}-06-01 00:00:00", *child],
            check=True,
            capture_output=True,
            encoding="utf-8",
            cwd=Path(__file__).parents[2],
            timeout=120,
        )
        year_seen, _, before = result.stdout.strip().partition(" ")
        years.append(year_seen)
        texts.append(before)

    assert years == ["2030", "2020"]
    assert texts == ["None", "text 0"]
    box = StoreBox(tmp_path)
    assert box.text("a") == "text 1"
    assert box.store.view.sequence == 2
    box.close()
