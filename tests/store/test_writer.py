"""The writer: plans of one group see each other, and what comes during a fold is not forgotten."""

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.changes import ChangeSet
from qms.memory.validation import normalise
from qms.store.draft import Draft
from tests.support.boxes import StoreBox, entry, statement
from tests.support.waiting import BOUND_S, eventually


def adding(word: str) -> Callable[[Draft], None]:
    """Return a plan that adds a word to the statement of an entry."""

    def plan(draft: Draft) -> None:
        record = draft.get("p:a")
        assert record is not None
        text = record.document()["body"]["statement"]
        draft.put(normalise(statement("a", f"{text} {word}")))

    return plan


def test_plans_that_are_written_together_build_on_each_other(tmp_store: StoreBox) -> None:
    store = tmp_store.store
    tmp_store.put(statement("a", "zero"))
    plans = [adding("one"), adding("two")]
    threads = [
        threading.Thread(target=store.commit, args=(tmp_store.origin(), plan), daemon=True)
        for plan in plans
    ]

    def let_others_wait(sequence: int, _changes: ChangeSet) -> None:
        if sequence == 2:
            for thread in threads:
                thread.start()
            eventually(lambda: len(store._writer._group._waiting) == len(threads))

    store.subscribe(let_others_wait)
    tmp_store.put(entry("b"))
    for thread in threads:
        thread.join(BOUND_S)

    text = tmp_store.text("a")
    assert text is not None
    assert sorted(text.split()) == ["one", "two", "zero"]
    assert store.view.sequence == 4


def test_a_commit_is_settled_by_its_own_thread_while_others_write(tmp_store: StoreBox) -> None:
    store, settled = tmp_store.store, list[tuple[int, int]]()

    def settle(sequence: int) -> None:
        if sequence == 1:
            other = threading.Thread(target=tmp_store.put, args=(entry("b"),), daemon=True)
            other.start()
            other.join(BOUND_S)
        settled.append((sequence, store.view.sequence))

    store.before_answer(settle)
    tmp_store.put(entry("a"))
    store.commit(tmp_store.origin(), lambda _draft: None)

    assert settled == [(2, 2), (1, 2)]


def test_a_settler_that_fails_does_not_fail_the_write(tmp_store: StoreBox) -> None:
    def fail(_sequence: int) -> None:
        raise OSError("full")

    tmp_store.store.before_answer(fail)
    tmp_store.put(entry("a"))

    assert tmp_store.get("a") is not None
    assert ("listenerFailed", None) in tmp_store.codes()


class InterruptedFold(Disk):
    """Lets somebody write once a fold has taken its snapshot and stages the file."""

    def __init__(self) -> None:
        self.writes: list[Callable[[], object]] = []

    def sync_folder(self, folder: Path) -> None:
        super().sync_folder(folder)
        if self.writes:
            self.writes.pop()()


def test_what_is_removed_during_a_fold_is_archived_by_the_next(tmp_path: Path) -> None:
    disk = InterruptedFold()
    box = StoreBox(tmp_path, disk=disk)
    cut: list[int] = []
    box.store.before_cut(lambda records: cut.extend(number for number, _ in records))
    box.put(entry("a"), entry("b"))
    disk.writes.append(partial(box.remove, "a"))
    box.fold()
    assert disk.writes == []
    assert (cut, box.archived()) == ([1], [])

    box.fold()

    assert cut == [1, 2]
    assert [line["entry"]["id"] for line in box.archived()] == ["p:a"]
    box.close()
