import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.memory.validation import instant_text
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin, StoreOptions
from qms.store.sort_orders import SORT_VALUES, SortOrders
from qms.store.view import Record
from tests.support.house import Clock

CLOCK = Clock()
ORIGIN = Origin(command="test", user="test", at_utc=CLOCK.now, right=AccessTier.ADMIN)


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    return MemoryStore.open(
        tmp_path / "p",
        "p",
        disk=Disk(),
        options=StoreOptions(),
        backup_root=tmp_path / "Backups",
        clock=CLOCK,
    )


def document(name: int, **overrides: Any) -> dict[str, Any]:
    now = instant_text(CLOCK.now)
    return {
        "schemaVersion": 1,
        "id": f"p:{name}",
        "kind": "note",
        "title": f"Title {name % 7}",
        "body": {"text": "x"},
        "timestamps": {"createdUtc": now, "updatedUtc": now},
        **overrides,
    }


def write(store: MemoryStore, puts: list[int], removes: list[int], priority: int = 5) -> None:
    def plan(draft: Draft) -> None:
        for name in puts:
            draft.put(document(name, priority=priority))
        for name in removes:
            draft.remove(f"p:{name}")

    store.commit(ORIGIN, plan)


def sorted_anew(store: MemoryStore, key: str) -> list[Record]:
    return sorted(store.view.records.values(), key=SORT_VALUES[key])


Names = st.lists(st.integers(0, 400), max_size=5, unique=True)
Steps = st.lists(st.tuples(Names, Names, st.integers(1, 10), st.booleans()), max_size=12)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=Steps)
def test_an_order_kept_up_equals_one_made_anew(store: MemoryStore, steps: Any) -> None:
    sort_orders = SortOrders(store)
    for puts, removes, priority, is_asked_for in steps:
        write(store, puts, removes, priority)
        if is_asked_for:
            sort_orders.sorted_by("updated")

    for key in SORT_VALUES:
        assert sort_orders.sorted_by(key) == sorted_anew(store, key)


def test_many_changes_at_once_are_sorted_in_together(store: MemoryStore) -> None:
    sort_orders = SortOrders(store)
    write(store, list(range(500)), [])
    sort_orders.sorted_by("priority")

    write(store, list(range(100, 600)), list(range(50)), priority=9)

    assert sort_orders.sorted_by("priority") == sorted_anew(store, "priority")


def test_more_changes_than_are_remembered_make_the_order_anew(store: MemoryStore) -> None:
    sort_orders = SortOrders(store, remembered=10)
    sort_orders.sorted_by("title")

    write(store, list(range(30)), [])
    write(store, [7], [8])

    assert sort_orders.sorted_by("title") == sorted_anew(store, "title")


def test_a_list_that_was_handed_out_does_not_change(store: MemoryStore) -> None:
    sort_orders = SortOrders(store)
    write(store, [1, 2, 3], [])
    before = sort_orders.sorted_by("updated")
    copy = list(before)

    write(store, [4], [1])
    sort_orders.sorted_by("updated")

    assert before == copy


def test_a_change_costs_few_comparisons_however_many_entries_there_are(
    store: MemoryStore,
) -> None:
    calls = 0
    value_of = SORT_VALUES["updated"]

    def counted(record: Record) -> Any:
        nonlocal calls
        calls += 1
        return value_of(record)

    sort_orders = SortOrders(store, values={"updated": counted})
    write(store, list(range(5000)), [])
    sort_orders.sorted_by("updated")
    assert calls == 5000

    calls = 0
    write(store, [17], [])
    assert sort_orders.sorted_by("updated")[-1].header.id == "p:17"
    assert calls < 50
    sort_orders.sorted_by("updated")
    assert calls < 50


@pytest.mark.slow
def test_writers_and_readers_at_once_end_with_the_right_order(store: MemoryStore) -> None:
    sort_orders = SortOrders(store)
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            sort_orders.sorted_by("updated")

    def write_some(first: int) -> None:
        for name in range(first, first + 100):
            write(store, [name], [])

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write_some, args=(first,)) for first in (0, 50, 300)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    is_over.set()
    for thread in readers:
        thread.join()

    assert sort_orders.sorted_by("updated") == sorted_anew(store, "updated")
