"""One project's memory, through its door."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from qms.memory.changes import ChangeSet
from qms.memory.errors import ConflictError, NotFoundError, UnavailableError
from qms.memory.validation import instant_text, normalise
from qms.store import file_image as image_module
from qms.store.draft import Draft
from qms.store.options import FoldOutcome, StoreOptions
from tests.support.boxes import NOW, StoreBox, entry, line_of, statement
from tests.support.stores import UnsyncedDisk

# -- writing and reading


def test_a_new_store_is_empty_and_healthy(tmp_store: StoreBox) -> None:
    status = tmp_store.store.status()

    assert (status.entries, status.problems, status.conflicts) == (0, 0, 0)
    assert not status.held
    assert not status.read_only
    assert tmp_store.store.fold() is FoldOutcome.NOTHING
    assert not tmp_store.path.exists()


def test_a_write_is_visible_when_it_is_answered(tmp_store: StoreBox) -> None:
    before = tmp_store.store.view
    tmp_store.put(statement("a", "one"))

    assert tmp_store.text("a") == "one"
    assert len(before) == 0
    assert tmp_store.store.view.sequence == 1


def test_what_was_answered_is_there_after_a_crash_and_after_a_stop(tmp_store: StoreBox) -> None:
    tmp_store.put(statement("a", "one"), statement("b", "two"))
    tmp_store.remove("b")
    tmp_store.crash()
    after_crash = (tmp_store.open(), tmp_store.documents())[1]
    tmp_store.reopen()

    assert after_crash == {"a": statement("a", "one")}
    assert tmp_store.documents() == after_crash
    assert tmp_store.store.view.sequence == 2
    assert tmp_store.store.status().pending_journal == 0


def test_a_plan_that_raises_leaves_nothing(tmp_store: StoreBox) -> None:
    def plan(draft: Draft) -> None:
        draft.put(entry("a"))
        raise NotFoundError("changed my mind")

    with pytest.raises(NotFoundError, match="changed my mind"):
        tmp_store.store.commit(tmp_store.origin(), plan)

    assert tmp_store.documents() == {}
    assert tmp_store.store.view.sequence == 0


def test_a_plan_without_changes_writes_nothing(tmp_store: StoreBox) -> None:
    assert tmp_store.store.commit(tmp_store.origin(), lambda draft: draft.count) == 0
    assert tmp_store.store.status().pending_journal == 0


def test_subscribers_hear_of_a_commit_once_it_is_visible(tmp_store: StoreBox) -> None:
    heard: list[tuple[int, str, bool]] = []

    def listen(sequence: int, change_set: ChangeSet) -> None:
        seen = tmp_store.store.view.get(change_set.changes[0].id) is not None
        heard.append((sequence, change_set.command, seen))

    tmp_store.store.subscribe(listen)
    tmp_store.put(entry("a"))
    tmp_store.put(entry("b"))

    assert heard == [(1, "test", True), (2, "test", True)]


def test_the_hook_before_a_cut_sees_every_record_that_goes(tmp_store: StoreBox) -> None:
    seen: list[int] = []
    tmp_store.store.before_cut(lambda records: seen.extend(number for number, _ in records))
    tmp_store.put(entry("a"))
    tmp_store.put(entry("b"))
    assert [number for number, _ in tmp_store.store.uncut()] == [1, 2]
    tmp_store.fold()

    assert seen == [1, 2]
    assert tmp_store.store.uncut() == []


def test_a_hook_that_fails_postpones_the_cut(tmp_store: StoreBox) -> None:
    def fail(_records: object) -> None:
        raise OSError("the audit log is full")

    tmp_store.store.before_cut(fail)
    tmp_store.put(entry("a"))

    assert tmp_store.store.fold() is FoldOutcome.POSTPONED
    assert len(tmp_store.store.uncut()) == 1
    tmp_store.store.before_cut(lambda records: None)
    tmp_store.fold()
    assert tmp_store.store.uncut() == []


def test_a_closed_store_takes_no_writes(tmp_store: StoreBox) -> None:
    store = tmp_store.store
    tmp_store.close()

    with pytest.raises(UnavailableError):
        store.commit(tmp_store.origin(), lambda draft: draft.put(entry("a")))


def test_two_threads_upserting_the_same_new_fact_leave_one_entry(tmp_store: StoreBox) -> None:
    store = tmp_store.store
    created: list[str] = []

    def upsert(own: str, number: int) -> None:
        document = statement(f"{own}{number}", f"Fact {number}", title=f"Fact {number}")

        def plan(draft: Draft) -> None:
            if draft.find_exact(document) is None:
                draft.put(normalise(document))
                created.append(document["title"])

        store.commit(tmp_store.origin(), plan)

    def work(own: str) -> None:
        for number in range(1000):
            upsert(own, number)

    threads = [threading.Thread(target=work, args=(own,)) for own in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(store.view) == 1000
    assert len(created) == len(set(created)) == 1000


def test_without_looking_for_the_duplicate_there_would_be_two(tmp_store: StoreBox) -> None:
    for own in "xy":
        tmp_store.put(statement(own, "Fact", title="Fact"))

    assert len(tmp_store.store.view) == 2


# -- folding


def test_a_fold_writes_the_file_and_cuts_the_journal(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"), entry("b"))
    assert tmp_store.store.status().pending_journal == 1

    assert tmp_store.store.fold() is FoldOutcome.FOLDED
    assert tmp_store.lines() == [line_of(entry("a")), line_of(entry("b"))]
    assert tmp_store.store.status().pending_journal == 0
    assert tmp_store.store.status().last_fold_utc == NOW
    assert tmp_store.store.fold() is FoldOutcome.NOTHING


def test_a_deleted_entry_goes_to_the_archive(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"))
    tmp_store.remove("a")
    tmp_store.fold()

    assert [{**one, "crc32": None} for one in tmp_store.archived()] == [
        {
            "crc32": None,
            "archivedUtc": instant_text(NOW),
            "reason": "deleted",
            "by": "tester",
            "entry": entry("a"),
        }
    ]


def test_a_fold_encodes_only_what_changed(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(200)))
    tmp_store.reopen()
    calls = count_encodings(monkeypatch)
    tmp_store.put(entry("e7", title="Changed"))
    tmp_store.remove("e8")
    tmp_store.put(entry("new"))
    tmp_store.fold()

    assert calls == ["p:e7", "p:new"]


def test_the_count_of_encodings_would_notice_a_fold_that_encodes_all(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(20)))
    calls = count_encodings(monkeypatch)
    tmp_store.put(*tmp_store.documents().values())
    tmp_store.fold()

    assert len(calls) == 20


def count_encodings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the ids of entries as they are encoded, wherever the house encodes one."""
    from qms.memory import hand_lines, lines, validation

    calls: list[str] = []
    encode: Callable[[Any], bytes] = lines.encode_line

    def counted(document: Any) -> bytes:
        calls.append(document["id"])
        return encode(document)

    for module in (validation, hand_lines, lines):
        monkeypatch.setattr(module, "encode_line", counted)
    return calls


def test_a_fold_is_due_soon_after_a_write_and_not_before(tmp_path: Path) -> None:
    box = StoreBox(tmp_path, options=StoreOptions(fold_after_s=0.5))
    assert box.store.fold_due_in(0.0) is None
    box.put(entry("a"))
    due = box.store.fold_due_in(0.0)

    assert due is not None
    assert box.store.fold_due_in(due) == 0.0
    box.fold()
    assert box.store.fold_due_in(0.0) is None
    box.close()


# -- hand edits


class ReadsDisk(UnsyncedDisk):
    """Remembers which files were read."""

    def __init__(self) -> None:
        self.reads: list[str] = []

    def read(self, path: Path) -> bytes:
        self.reads.append(path.name)
        return super().read(path)


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    disk = ReadsDisk()
    box = StoreBox(tmp_path, disk=disk)
    box.put(entry("a"))
    box.fold()
    disk.reads.clear()

    assert box.store.reload().settled
    assert disk.reads == []
    box.close()


def test_a_touched_file_with_the_same_bytes_is_no_edit(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_store.put(entry("a"))
    tmp_store.fold()
    monkeypatch.setattr(image_module, "read_image", None)
    tmp_store.edit(lambda data: data)

    report = tmp_store.store.reload()
    assert (report.changed, report.settled) == (0, True)


def test_a_line_with_kind_and_body_becomes_an_entry_and_is_completed(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"))
    tmp_store.fold()
    tmp_store.edit(lambda data: data + b'{"kind":"note","body":{"text":"Thursdays"}}\n')
    report = tmp_store.store.reload()
    tmp_store.fold()

    assert report.added == 1
    (document,) = (one for one in tmp_store.documents().values() if one["kind"] == "note")
    assert document["title"] == "Thursdays"
    assert tmp_store.lines() == [line_of(entry("a")), line_of(document)]
    assert tmp_store.store.reload().changed == 0


def test_equal_lines_without_id_stay_entries_of_their_own(tmp_store: StoreBox) -> None:
    nameless = b'{"kind":"note","body":{"text":"Twice"}}'
    tmp_store.save_lines(nameless, nameless)
    tmp_store.open()
    tmp_store.save_lines(nameless, nameless, line_of(entry("a")))
    tmp_store.store.reload()
    tmp_store.fold()

    assert len(tmp_store.store.view) == 3
    assert tmp_store.codes() == []
    assert len(tmp_store.lines()) == 3
    assert nameless not in tmp_store.lines()


def test_the_time_of_the_file_counts_when_a_person_left_the_time_alone(
    tmp_store: StoreBox,
) -> None:
    tmp_store.put(statement("a", "one"))
    tmp_store.fold()
    tmp_store.edit(lambda data: data.replace(b"one", b"two"))
    tmp_store.store.reload()
    record = tmp_store.store.view.get("p:a")
    assert record is not None

    mtime = tmp_store.path.stat().st_mtime_ns / 1e9
    assert abs(record.header.timestamps.updated_utc.timestamp() - mtime) < 1e-3
    assert tmp_store.text("a") == "two"
    assert tmp_store.store.fold() in (FoldOutcome.FOLDED, FoldOutcome.NOTHING)
    assert tmp_store.lines() == [line_of(statement("a", "two"))]


def test_a_removed_line_is_a_deletion_kept_in_the_archive(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.fold()
    tmp_store.save_lines(line_of(entry("b")))
    report = tmp_store.store.reload()
    tmp_store.fold()

    assert report.removed == 1
    assert tmp_store.get("a") is None
    (archived,) = tmp_store.archived()
    assert (archived["reason"], archived["entry"]) == ("deleted by hand", entry("a"))


def test_a_line_that_became_unreadable_keeps_the_last_good_version(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.fold()
    torn = line_of(entry("a"))[:-5]
    tmp_store.save_lines(torn, line_of(entry("b")))
    tmp_store.store.reload()
    tmp_store.fold()
    tmp_store.reopen()

    assert tmp_store.get("a") == entry("a")
    assert tmp_store.lines() == [torn, line_of(entry("b"))]
    assert tmp_store.codes() == [("notJson", 1)]
    tmp_store.save_lines(line_of(statement("a", "mended")), line_of(entry("b")))
    tmp_store.store.reload()
    assert tmp_store.text("a") == "mended"
    assert tmp_store.codes() == []


def test_a_write_to_an_entry_with_an_unreadable_line_goes_to_a_line_of_its_own(
    tmp_store: StoreBox,
) -> None:
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.fold()
    torn = line_of(entry("a"))[:-5]
    tmp_store.save_lines(torn, line_of(entry("b")))
    tmp_store.store.reload()
    tmp_store.put(statement("a", "new"))
    tmp_store.fold()
    tmp_store.reopen()

    assert tmp_store.lines() == [torn, line_of(entry("b")), line_of(statement("a", "new"))]
    assert tmp_store.text("a") == "new"


def test_nothing_held_is_nothing_to_decide(tmp_store: StoreBox) -> None:
    for decide in (tmp_store.store.accept_held, tmp_store.store.reject_held):
        with pytest.raises(ConflictError, match="nothing to decide"):
            decide()


# -- what it says of itself


def test_verify_reads_the_file_and_names_dangling_relations(tmp_store: StoreBox) -> None:
    to_b = [{"type": "ref", "targetId": "p:b"}, {"type": "ref", "targetId": "other:x"}]
    tmp_store.put(entry("a", relations=to_b))
    tmp_store.fold()
    tmp_store.edit(lambda data: data + b"bad\n")

    codes = [(one.code, one.line) for one in tmp_store.store.verify().problems]
    assert codes == [("notJson", 2), ("danglingRelation", None)]
    tmp_store.store.reload()
    tmp_store.put(entry("b"))
    assert [one.code for one in tmp_store.store.verify().problems] == ["notJson"]


def test_every_figure_of_the_status_follows_what_happens(tmp_store: StoreBox) -> None:
    tmp_store.put(entry("a"))
    status = tmp_store.store.status()

    assert (status.name, status.loaded) == ("p", True)
    assert (status.entries, status.bytes) == (1, len(line_of(entry("a"))) + 1)
    assert (status.sequence, status.pending_journal) == (1, 1)
    assert (status.last_write_utc, status.last_fold_utc) == (NOW, None)
    tmp_store.clock.advance(seconds=5)
    tmp_store.fold()
    assert tmp_store.store.status().last_fold_utc == NOW + timedelta(seconds=5)


def test_the_last_write_is_known_after_a_crash_and_after_a_stop(tmp_store: StoreBox) -> None:
    tmp_store.open()
    assert tmp_store.reopen().status().last_write_utc is None
    tmp_store.put(entry("a"))
    tmp_store.crash()
    assert tmp_store.open().status().last_write_utc == NOW

    tmp_store.reopen()

    written = datetime.fromtimestamp(tmp_store.path.stat().st_mtime_ns / 1e9, UTC)
    assert tmp_store.store.status().last_write_utc == written


def test_our_own_files_are_ignored_by_git(tmp_store: StoreBox) -> None:
    tmp_store.open()

    ignored = (tmp_store.folder / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {".qms/", "indexes/"} <= set(ignored)


@pytest.mark.parametrize(
    "lost",
    ["base.json", "base.jsonl", "folding.json", "folds.jsonl", "journal.wal", "conflicts.jsonl"],
)
def test_no_entry_is_lost_with_a_file_of_our_own(tmp_store: StoreBox, lost: str) -> None:
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.close()
    (tmp_store.own / lost).unlink(missing_ok=True)

    tmp_store.open()
    assert set(tmp_store.documents()) == {"a", "b"}
    tmp_store.put(entry("c"))
    tmp_store.reopen()
    assert set(tmp_store.documents()) == {"a", "b", "c"}
