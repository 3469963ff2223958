"""A file that is suddenly empty or gone: held, not wiped."""

from collections.abc import Callable

import pytest

from qms.store import reload as reload_module
from qms.store.options import FoldOutcome
from tests.support.boxes import StoreBox, entry, line_of, statement

COUNT = 12


def empty(box: StoreBox) -> None:
    box.save(b"")


def blank(box: StoreBox) -> None:
    box.save(b"\n\n")


def remove(box: StoreBox) -> None:
    box.path.unlink()


def keep_one(box: StoreBox) -> None:
    box.save_lines(line_of(entry("e0")))


def spoil(box: StoreBox) -> None:
    """Save a file whose lines are all bad but show other ids: none of ours is left."""
    box.save_lines(*(b'{"id":"p:z%d",' % number for number in range(3)))


DISASTERS: list[Callable[[StoreBox], None]] = [empty, blank, remove, keep_one, spoil]
LEFT = {"keep_one": {"e0"}}


def strike(box: StoreBox, disaster: Callable[[StoreBox], None], *, live: bool) -> None:
    """Let a store of a few entries meet a disaster, running or stopped."""
    box.put(*(entry(f"e{number}") for number in range(COUNT)))
    box.fold()
    if not live:
        box.close()
    disaster(box)
    box.store.reload()


def all_ids() -> set[str]:
    return {f"e{number}" for number in range(COUNT)}


def check_held(box: StoreBox) -> None:
    assert set(box.documents()) >= all_ids()
    assert box.store.status().held
    assert ("held", None) in box.codes()


@pytest.mark.fault("F14")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("disaster", DISASTERS)
def test_a_lost_file_is_held_while_reading_and_writing_go_on(
    tmp_store: StoreBox, disaster: Callable[[StoreBox], None], live: bool
) -> None:
    strike(tmp_store, disaster, live=live)
    theirs = tmp_store.path.read_bytes() if tmp_store.path.exists() else None

    check_held(tmp_store)
    tmp_store.put(entry("new"), statement("e1", "changed"))
    tmp_store.store.reload()
    assert tmp_store.store.fold() is FoldOutcome.HELD
    check_held(tmp_store)
    tmp_store.crash()
    tmp_store.open()
    check_held(tmp_store)
    assert tmp_store.text("e1") == "changed"
    assert tmp_store.get("new") == entry("new")
    assert (tmp_store.path.read_bytes() if tmp_store.path.exists() else None) == theirs
    tmp_store.reopen()
    check_held(tmp_store)
    assert (tmp_store.path.read_bytes() if tmp_store.path.exists() else None) == theirs


@pytest.mark.fault("F14")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("disaster", DISASTERS)
def test_accepting_takes_the_deletions_into_the_archive(
    tmp_store: StoreBox, disaster: Callable[[StoreBox], None], live: bool
) -> None:
    strike(tmp_store, disaster, live=live)
    tmp_store.put(entry("new"))
    tmp_store.store.accept_held()
    tmp_store.fold()
    left = LEFT.get(disaster.__name__, set())

    assert set(tmp_store.documents()) == {"new"} | left
    assert {one["entry"]["id"] for one in tmp_store.archived()} == {
        f"p:{local}" for local in all_ids() - left
    }
    tmp_store.reopen()
    assert set(tmp_store.documents()) == {"new"} | left
    assert not tmp_store.store.status().held


@pytest.mark.fault("F14")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("disaster", DISASTERS)
def test_rejecting_writes_the_file_again(
    tmp_store: StoreBox, disaster: Callable[[StoreBox], None], live: bool
) -> None:
    strike(tmp_store, disaster, live=live)
    tmp_store.put(entry("new"))
    tmp_store.store.reject_held()
    tmp_store.fold()

    assert set(tmp_store.documents()) == all_ids() | {"new"}
    assert {line_of(entry(local)) for local in all_ids() | {"new"}} <= set(tmp_store.lines())
    tmp_store.reopen()
    assert set(tmp_store.documents()) == all_ids() | {"new"}
    assert not tmp_store.store.status().held
    assert tmp_store.archived() == []


@pytest.mark.fault("F14")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("disaster", [empty, blank, remove])
def test_rejecting_brings_the_order_and_the_bad_lines_back(
    tmp_store: StoreBox, disaster: Callable[[StoreBox], None], live: bool
) -> None:
    lines = [line_of(entry("z")), b"bad", line_of(entry("m")), b"", line_of(entry("a"))]
    tmp_store.save_lines(*lines)
    tmp_store.open()
    tmp_store.fold()
    if not live:
        tmp_store.close()
    disaster(tmp_store)
    tmp_store.store.reload()
    tmp_store.store.reject_held()
    tmp_store.put(entry("new"))
    tmp_store.reopen()

    expected = [*lines, line_of(entry("new"))]
    assert [line for line in tmp_store.lines() if line] == [line for line in expected if line]
    assert tmp_store.codes() == [("notJson", 2)]


@pytest.mark.fault("F14")
def test_a_file_that_comes_back_ends_the_hold_by_itself(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(COUNT)))
    tmp_store.fold()
    data = tmp_store.path.read_bytes()
    empty(tmp_store)
    assert tmp_store.store.reload().held
    tmp_store.put(entry("new"))
    tmp_store.save(data)

    assert not tmp_store.store.reload().held
    tmp_store.fold()
    assert set(tmp_store.documents()) == all_ids() | {"new"}
    assert tmp_store.store.conflicts() == []


@pytest.mark.fault("F14")
def test_rejecting_takes_what_was_added_and_changed_all_the_same(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(COUNT)))
    tmp_store.fold()
    tmp_store.save_lines(line_of(statement("e0", "by hand")), line_of(entry("mine")))
    assert tmp_store.store.reload().held
    tmp_store.store.reject_held()
    tmp_store.fold()

    assert tmp_store.text("e0") == "by hand"
    assert set(tmp_store.documents()) == all_ids() | {"mine"}


@pytest.mark.fault("F14")
def test_an_emptied_file_of_a_small_store_is_held_too(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"))
    tmp_store.fold()
    empty(tmp_store)

    assert tmp_store.store.reload().held
    assert tmp_store.get("a") == entry("a")


@pytest.mark.fault("F14")
def test_a_few_deletions_are_not_held(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(30)))
    tmp_store.fold()
    tmp_store.save_lines(*tmp_store.lines()[10:])

    assert not tmp_store.store.reload().held
    assert len(tmp_store.store.view) == 20


@pytest.mark.fault("F14")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_without_the_hold_an_emptied_file_would_wipe_the_store(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    monkeypatch.setattr(reload_module, "reason_to_hold", lambda *arguments: None)
    strike(tmp_store, empty, live=live)

    with pytest.raises(AssertionError):
        check_held(tmp_store)
