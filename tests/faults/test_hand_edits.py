"""Hand edits against server writes, one careful step at a time; each scene live and offline."""

import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from qms.store import file_image as image_module
from qms.store import reload as reload_module
from qms.store.merge import Merge
from qms.store.options import StoreOptions
from tests.support.boxes import StoreBox, entry, line_of, statement

Scene = Callable[[StoreBox], object]


def person(box: StoreBox, *lines: bytes) -> None:
    box.save_lines(*lines)


def store_again(box: StoreBox, local: str, text: str) -> None:
    box.remove(local)
    box.put(statement(local, text))


ONE, TWO = line_of(statement("a", "one")), line_of(statement("b", "two"))
MINE = line_of(statement("a", "by hand"))

# what the server wrote since the fold, the lines that the person saved, the entries afterwards,
# and the versions that lost
SCENES: dict[str, tuple[Scene, list[bytes], dict[str, str], list[str]]] = {
    "only the person changed": (
        lambda box: None,
        [MINE, TWO],
        {"a": "by hand", "b": "two"},
        [],
    ),
    "only the server changed": (
        lambda box: box.put(statement("a", "ours")),
        [ONE, TWO, b""],
        {"a": "ours", "b": "two"},
        [],
    ),
    "the person removed what the server removed and stored again": (
        lambda box: store_again(box, "a", "again"),
        [TWO],
        {"b": "two"},
        ["again"],
    ),
    "both changed the same": (
        lambda box: box.put(statement("a", "ours")),
        [MINE, TWO],
        {"a": "by hand", "b": "two"},
        ["ours"],
    ),
    "both made the same change": (
        lambda box: box.put(statement("a", "by hand")),
        [MINE, TWO],
        {"a": "by hand", "b": "two"},
        [],
    ),
    "each changed another": (
        lambda box: box.put(statement("b", "ours")),
        [MINE, TWO],
        {"a": "by hand", "b": "ours"},
        [],
    ),
    "the person removed one": (lambda box: None, [TWO], {"b": "two"}, []),
    "the person removed what the server changed": (
        lambda box: box.put(statement("a", "ours")),
        [TWO],
        {"b": "two"},
        ["ours"],
    ),
    "the server removed what the person left": (
        lambda box: box.remove("a"),
        [ONE, TWO, b""],
        {"b": "two"},
        [],
    ),
    "the server removed what the person changed": (
        lambda box: box.remove("a"),
        [MINE, TWO],
        {"a": "by hand", "b": "two"},
        [],
    ),
    "both removed it": (lambda box: box.remove("a"), [TWO], {"b": "two"}, []),
    "the server added one that the person's file lacks": (
        lambda box: box.put(statement("c", "ours")),
        [MINE, TWO],
        {"a": "by hand", "b": "two", "c": "ours"},
        [],
    ),
    "both added the same id": (
        lambda box: box.put(statement("c", "ours")),
        [ONE, TWO, line_of(statement("c", "by hand"))],
        {"a": "one", "b": "two", "c": "by hand"},
        ["ours"],
    ),
    "the person's line cannot be read": (
        lambda box: box.put(statement("a", "ours")),
        [ONE[:-9], TWO],
        {"a": "ours", "b": "two"},
        [],
    ),
    "the person turned the order round": (
        lambda box: box.put(statement("b", "ours")),
        [TWO, ONE],
        {"a": "one", "b": "ours"},
        [],
    ),
}


def play(box: StoreBox, scene: str, *, live: bool) -> None:
    write, lines, expected, lost = SCENES[scene]
    box.put(statement("a", "one"), statement("b", "two"))
    box.fold()
    write(box)
    if not live:
        box.crash()
    person(box, *lines)
    box.store.reload()
    for _ in range(3):
        texts = {local: one["body"]["statement"] for local, one in box.documents().items()}
        assert texts == expected
        assert sorted(box.conflict_texts()) == sorted(lost)
        assert box.store.status().conflicts == len(lost)
        box.fold()
        box.reopen()


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("scene", SCENES)
def test_an_edit_made_while_the_server_was_down_merges_like_a_live_one(
    tmp_store: StoreBox, scene: str, live: bool
) -> None:
    play(tmp_store, scene, live=live)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("scene", ["both changed the same", "only the server changed"])
def test_the_scenes_notice_a_merge_that_ignores_the_base(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch, scene: str, live: bool
) -> None:
    def blind(base: Any, fresh: Any, gone: set[str], ours: Any, *rest: Any) -> Merge:
        put = {key: good for key, good in fresh.items() if key in base or key not in ours.records}
        return Merge(put=put, removed=sorted(gone), agreed={}, lost={})

    honest = image_module.read_image
    monkeypatch.setattr(reload_module, "merge", blind)
    monkeypatch.setattr(
        reload_module, "read_image", lambda data, known, *rest: honest(data, {}, *rest)
    )
    with pytest.raises((AssertionError, KeyError)):
        play(tmp_store, scene, live=live)


# -- a good line beside an unreadable one


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
@pytest.mark.parametrize("spoiled", [b"{spoiled", ONE[:-9]], ids=["nameless", "with its id"])
def test_a_good_line_that_is_taken_out_again_leaves_no_entry_to_the_unreadable_one(
    tmp_store: StoreBox, spoiled: bytes, live: bool
) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    person(tmp_store, spoiled, TWO)
    tmp_store.store.reload()
    tmp_store.fold()
    person(tmp_store, spoiled, TWO, MINE)
    tmp_store.store.reload()
    if not live:
        tmp_store.crash()
    person(tmp_store, spoiled, TWO)
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    assert list(tmp_store.documents()) == ["b"]
    assert tmp_store.lines() == [spoiled, TWO]
    assert [one["entry"]["body"]["statement"] for one in tmp_store.archived()] == ["by hand"]
    assert tmp_store.conflict_texts() == []


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_a_good_line_that_is_spoiled_again_keeps_its_entry(tmp_store: StoreBox, live: bool) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    person(tmp_store, b"{spoiled", TWO)
    tmp_store.store.reload()
    tmp_store.fold()
    person(tmp_store, b"{spoiled", TWO, MINE)
    tmp_store.store.reload()
    if not live:
        tmp_store.crash()
    person(tmp_store, b"{spoiled", TWO, b"{spoiled again")
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    assert tmp_store.text("a") == "by hand"
    assert tmp_store.lines()[:3] == [b"{spoiled", TWO, b"{spoiled again"]


# -- a save made from a file that is older than the last fold


@pytest.mark.fault("F13")
@pytest.mark.parametrize("by_rename", [True, False], ids=["rename", "in place"])
def test_a_save_of_an_older_reading_loses_nothing_that_was_folded_meanwhile(
    tmp_store: StoreBox, by_rename: bool
) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"), statement("c", "three"))
    tmp_store.fold()
    read = tmp_store.path.read_bytes()
    tmp_store.put(statement("a", "ours"), statement("new", "ours too"))
    tmp_store.remove("c")
    tmp_store.fold()
    save = tmp_store.save_by_rename if by_rename else tmp_store.save
    save(read.replace(b"two", b"by hand"))
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    texts = {one["body"]["statement"] for one in tmp_store.documents().values()}
    assert "by hand" in texts
    assert {"ours", "ours too"} <= texts | set(tmp_store.conflict_texts())


@pytest.mark.fault("F13")
def test_going_back_to_an_older_line_is_an_edit_and_keeps_what_it_goes_over(
    tmp_store: StoreBox,
) -> None:
    tmp_store.put(statement("a", "one"))
    tmp_store.fold()
    old = tmp_store.path.read_bytes()
    tmp_store.put(statement("a", "ours"))
    tmp_store.fold()
    tmp_store.save(old)
    tmp_store.store.reload()

    assert tmp_store.text("a") == "one"
    assert tmp_store.conflict_texts() == ["ours"]


# -- an editor that keeps the replaced file open


@pytest.mark.fault("F13")
def test_what_an_editor_writes_late_into_the_replaced_file_is_taken(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    with tmp_store.path.open("r+b") as editor:
        tmp_store.put(statement("c", "three"))
        tmp_store.fold()
        data = editor.read()
        editor.seek(0)
        editor.write(data.replace(b"one", b"by hand"))
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    assert [tmp_store.text(local) for local in "abc"] == ["by hand", "two", "three"]


@pytest.mark.fault("F13")
def test_a_late_write_before_the_next_fold_is_not_swept_away_by_it(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    with tmp_store.path.open("r+b") as editor:
        tmp_store.put(statement("c", "three"))
        tmp_store.fold()
        data = editor.read()
        editor.seek(0)
        editor.write(data.replace(b"one", b"by hand"))
        editor.flush()
        tmp_store.put(statement("c", "four"))
        tmp_store.fold()
        tmp_store.store.reload()
    tmp_store.fold()

    assert [tmp_store.text(local) for local in "abc"] == ["by hand", "two", "four"]


@pytest.mark.fault("F13")
@pytest.mark.parametrize(("settle_s", "left"), [(0.0, ["b", "c"]), (math.inf, ["a", "b", "c"])])
def test_what_a_late_write_lacks_is_taken_out_once_it_has_come_to_rest(
    tmp_path: Path, settle_s: float, left: list[str]
) -> None:
    box = StoreBox(tmp_path, options=StoreOptions(settle_torn_s=settle_s))
    box.put(statement("a", "one"), statement("b", "two"))
    box.fold()
    with box.path.open("r+b") as editor:
        box.put(statement("c", "three"))
        box.fold()
        editor.truncate(0)
        editor.write(TWO + b"\n")
    box.store.look()
    box.store.look()
    box.fold()

    assert sorted(box.documents()) == left


@pytest.mark.fault("F13")
def test_an_entry_whose_line_a_late_write_spoils_is_kept(tmp_path: Path) -> None:
    box = StoreBox(tmp_path, options=StoreOptions(settle_torn_s=0.0))
    box.put(statement("a", "one"), statement("b", "two"))
    box.fold()
    with box.path.open("r+b") as editor:
        box.put(statement("c", "three"))
        box.fold()
        editor.truncate(0)
        editor.write(ONE[:-1] + b"\n" + TWO + b"\n")
    box.store.look()
    box.store.look()
    box.fold()

    assert sorted(box.documents()) == ["a", "b", "c"]
    assert box.archived() == []
    box.close()


@pytest.mark.fault("F13")
def test_a_late_write_that_takes_several_folds_is_taken_whole(tmp_store: StoreBox) -> None:
    count = 8
    tmp_store.put(*(statement(f"e{number}", f"text {number}") for number in range(count)))
    tmp_store.fold()
    lines = [
        line_of(statement(f"e{number}", f"by hand {number}")) + b"\n" for number in range(count)
    ]
    with tmp_store.path.open("r+b") as editor:
        tmp_store.put(statement("other", "0"))
        tmp_store.fold()
        editor.truncate(0)
        for number, line in enumerate(lines):
            editor.write(line)
            editor.flush()
            tmp_store.store.reload()
            tmp_store.put(statement("other", f"{number}"))
            tmp_store.fold()
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    for number in range(count):
        assert tmp_store.text(f"e{number}") == f"by hand {number}"
    assert tmp_store.text("other") == f"{count - 1}"


@pytest.mark.fault("F13")
def test_a_slow_save_in_place_is_taken_whole(tmp_store: StoreBox) -> None:
    count = 8
    tmp_store.put(*(statement(f"e{number}", f"text {number}") for number in range(count)))
    tmp_store.fold()
    lines = tmp_store.path.read_bytes().replace(b'"text', b'"by hand').splitlines(keepends=True)
    with tmp_store.path.open("wb") as editor:
        for number, line in enumerate(lines):
            editor.write(line)
            editor.flush()
            tmp_store.store.reload()
            tmp_store.put(statement("other", f"{number}"))
            tmp_store.store.fold()
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.store.reload()
    tmp_store.reopen()

    for number in range(count):
        assert tmp_store.text(f"e{number}") == f"by hand {number}"
    assert tmp_store.text("other") == f"{count - 1}"


def half_written(box: StoreBox, *, torn: bool) -> bytes:
    """Have an editor stop amid its save, within a line or between two; return the whole text."""
    box.put(*(statement(f"e{number}", f"text {number}") for number in range(8)))
    box.fold()
    whole = box.path.read_bytes()
    end = whole.index(b"\n", len(whole) // 2) + 1
    box.save(whole[: end - 20 if torn else end])
    return whole


WAITING = StoreOptions(settle_s=math.inf, settle_torn_s=math.inf)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("torn", [True, False], ids=["amid a line", "between lines"])
def test_a_look_waits_until_a_file_that_lacks_entries_has_come_to_rest(
    tmp_path: Path, torn: bool
) -> None:
    box = StoreBox(tmp_path, options=WAITING)
    whole = half_written(box, torn=torn)

    assert not box.store.look().settled
    assert not box.store.look().settled
    assert len(box.documents()) == 8

    box.save(whole.replace(b"text 1", b"by hand"))

    assert box.store.look().settled
    assert len(box.documents()) == 8
    assert box.text("e1") == "by hand"


@pytest.mark.fault("F13")
@pytest.mark.parametrize(("torn", "is_taken"), [(True, False), (False, True)])
def test_a_file_that_ends_amid_a_line_has_to_rest_longer(
    tmp_path: Path, torn: bool, is_taken: bool
) -> None:
    box = StoreBox(tmp_path, options=StoreOptions(settle_s=0, settle_torn_s=math.inf))
    half_written(box, torn=torn)

    assert box.store.look().settled is is_taken
    assert (len(box.documents()) < 8) is is_taken


@pytest.mark.fault("F13")
def test_a_file_that_goes_on_changing_has_to_rest_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = 0.0
    monkeypatch.setattr(reload_module, "time", SimpleNamespace(monotonic=lambda: now_s))
    box = StoreBox(tmp_path, options=StoreOptions(settle_s=10))
    whole = half_written(box, torn=False).splitlines(keepends=True)

    assert not box.store.look().settled
    now_s = 9.0
    box.save(b"".join(whole[:6]))
    assert not box.store.look().settled
    now_s = 11.0
    assert not box.store.look().settled
    assert len(box.documents()) == 8
    now_s = 19.0

    assert box.store.look().settled
    assert len(box.documents()) == 6


@pytest.mark.fault("F13")
def test_whoever_asks_for_a_reload_says_that_the_file_is_whole(tmp_path: Path) -> None:
    box = StoreBox(tmp_path, options=WAITING)
    half_written(box, torn=False)

    assert box.store.reload().removed


@pytest.mark.fault("F13")
@pytest.mark.parametrize("live", [True, False], ids=["live", "offline"])
def test_what_both_sides_removed_and_the_server_stored_again_stays(
    tmp_store: StoreBox, live: bool
) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"), entry("c"))
    tmp_store.fold()
    tmp_store.remove("a")
    person(tmp_store, TWO, line_of(entry("c")))
    tmp_store.store.reload()
    tmp_store.put(statement("a", "again"))
    if not live:
        tmp_store.crash()
    person(tmp_store, line_of(statement("b", "by hand")), line_of(entry("c")))
    tmp_store.store.reload()

    for _ in range(2):
        assert tmp_store.text("a") == "again"
        assert tmp_store.text("b") == "by hand"
        assert tmp_store.conflict_texts() == []
        tmp_store.fold()
        tmp_store.reopen()


@pytest.mark.fault("F13")
def test_an_unreadable_line_that_was_written_late_is_not_dropped(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"))
    tmp_store.fold()
    with tmp_store.path.open("r+b") as editor:
        tmp_store.put(statement("b", "two"))
        tmp_store.fold()
        editor.seek(0, 2)
        editor.write(b"a thought that is no JSON\n")
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    assert b"a thought that is no JSON" in tmp_store.lines()
    assert [code for code, _ in tmp_store.codes()] == ["notJson"]


@pytest.mark.fault("F13")
def test_the_late_write_would_be_lost_if_nobody_watched(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("reload", "fold", "memory_store"):
        monkeypatch.setattr(f"qms.store.{module}.take_late_writes", lambda *a, **k: None)
    tmp_store.put(statement("a", "one"))
    tmp_store.fold()
    with tmp_store.path.open("r+b") as editor:
        tmp_store.put(statement("b", "two"))
        tmp_store.fold()
        editor.write(line_of(statement("a", "by hand, and longer")) + b"\n")
    tmp_store.store.reload()

    assert tmp_store.text("a") == "one"


# -- git


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


@pytest.mark.needs("git")
def test_git_shows_one_changed_line_after_one_changed_entry(tmp_store: StoreBox) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(50)))
    tmp_store.fold()
    git(tmp_store.folder, "init", "-q")
    git(tmp_store.folder, "add", "-A")
    git(tmp_store.folder, "commit", "-qm", "start")
    tmp_store.put(statement("e7", "changed"))
    tmp_store.fold()

    assert git(tmp_store.folder, "diff", "--numstat") == "1\t1\tentries.jsonl\n"
    assert git(tmp_store.folder, "status", "--porcelain") == " M entries.jsonl\n"


@pytest.mark.needs("git")
@pytest.mark.fault("F13")
def test_a_checkout_is_an_edit_like_any_other(tmp_store: StoreBox) -> None:
    tmp_store.put(*(statement(f"e{number}", "old") for number in range(5)))
    tmp_store.fold()
    git(tmp_store.folder, "init", "-q")
    git(tmp_store.folder, "add", "-A")
    git(tmp_store.folder, "commit", "-qm", "start")
    tmp_store.put(*(statement(f"e{number}", "new") for number in range(5)))
    tmp_store.fold()
    tmp_store.put(statement("e1", "newest"), statement("added", "later"))
    git(tmp_store.folder, "checkout", "-q", "--", "entries.jsonl")
    tmp_store.store.reload()

    assert [tmp_store.text(f"e{number}") for number in range(5)] == ["old"] * 5
    assert tmp_store.text("added") == "later"
    assert "newest" in tmp_store.conflict_texts()


@pytest.mark.fault("F13")
def test_what_sed_changes_in_place_is_taken(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.fold()
    tmp_store.put(statement("b", "ours"))
    subprocess.run(["sed", "-i", "s/one/by hand/", str(tmp_store.path)], check=True)
    tmp_store.store.reload()
    tmp_store.reopen()

    assert (tmp_store.text("a"), tmp_store.text("b")) == ("by hand", "ours")
