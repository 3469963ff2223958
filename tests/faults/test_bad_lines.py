"""Lines that are no entries: kept byte for byte, reported, and no hindrance to the others."""

import json
import logging
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from qms.memory import hand_lines
from qms.store import file_image as image_module
from qms.store.file_image import Image
from tests.support.boxes import StoreBox, entry, line_of, statement

BAD_LINES: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"# remember to tidy this up", "notJson"),
    "torn": (line_of(entry("torn"))[:-7], "notJson"),
    "merge marker": (b"<<<<<<< HEAD", "notJson"),
    "array": (b'[{"id":"p:x"}]', "notObject"),
    "text": (b'"just a text"', "notObject"),
    "duplicate key": (line_of(entry("dup"))[:-1] + b',"title":"again"}', "duplicateKey"),
    "NaN": (line_of(entry("nan"))[:-1] + b',"confidence":NaN}', "badNumber"),
    "infinity": (line_of(entry("inf"))[:-1] + b',"confidence":1e999}', "badNumber"),
    "depth 300": (
        line_of(entry("deep"))[:-1] + b',"x":' + b"[" * 300 + b"]" * 300 + b"}",
        "tooDeep",
    ),
    "5 MB": (line_of(entry("long", filler="x" * 5_000_000)), "tooLong"),
    "NUL": (line_of(entry("nul")).replace(b"Title", b"Ti\0tle"), "notJson"),
    "NULs only": (b"\0" * 4096, "notJson"),
    "bad UTF-8": (line_of(entry("utf")).replace(b"Title", b"Ti\xfftle"), "badEncoding"),
    "half a surrogate": (line_of(entry("sur")).replace(b"Title", b"\\udc00"), "badEncoding"),
    "unknown kind": (line_of(entry("kind", kind="poem")), "unknownKind"),
    "foreign project": (line_of(entry(id="other:x")), "foreignProject"),
    "a field beyond its limit": (line_of(entry("title", title="x" * 513)), "invalidEntry"),
    "no body": (line_of(entry("body", body=...)), "invalidEntry"),
    "hostile draft": (b'{"schemaVersion":0,"createdUtc":1,"timestamps":5}', "invalidEntry"),
}
GOOD = [line_of(entry("a")), line_of(entry("b"))]


def check_kept(box: StoreBox, bad: bytes, code: str) -> None:
    """Check that the bad line stands second, is reported there, and that the others live."""
    assert box.lines()[1] == bad
    assert box.codes() == [(code, 2)]
    assert all(problem.reason for problem in box.store.problems())
    assert {"a", "b"} <= set(box.documents())


def walk(box: StoreBox, bad: bytes, code: str) -> None:
    """Take a bad line through a load, folds of every sort, a crash and restarts."""
    box.save_lines(GOOD[0], bad, GOOD[1])
    box.open()
    check_kept(box, bad, code)
    box.put(statement("b", "changed"), entry("c"))
    box.fold()
    check_kept(box, bad, code)
    box.put(statement("c", "changed"))
    box.crash()
    box.open()
    check_kept(box, bad, code)
    box.remove("c")
    box.fold()
    box.reopen()
    check_kept(box, bad, code)
    assert box.lines() == [GOOD[0], bad, line_of(statement("b", "changed"))]
    box.reopen()
    check_kept(box, bad, code)


@pytest.mark.fault("F10")
@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_stays_as_it_is_through_folds_and_restarts(
    tmp_store: StoreBox, name: str
) -> None:
    walk(tmp_store, *BAD_LINES[name])


@pytest.mark.fault("F10")
@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_that_is_added_live_is_no_different(tmp_store: StoreBox, name: str) -> None:
    bad, code = BAD_LINES[name]
    tmp_store.put(entry("a"), entry("b"))
    tmp_store.fold()
    tmp_store.save_lines(GOOD[0], bad, GOOD[1])
    report = tmp_store.store.reload()

    assert (report.problems, report.removed, report.settled) == (1, 0, True)
    check_kept(tmp_store, bad, code)
    tmp_store.put(entry("c"))
    tmp_store.fold()
    check_kept(tmp_store, bad, code)
    tmp_store.reopen()
    check_kept(tmp_store, bad, code)


@pytest.mark.fault("F10")
def test_all_bad_lines_at_once_leave_the_good_ones_alone(tmp_store: StoreBox) -> None:
    lines = [GOOD[0], *(bad for bad, _ in BAD_LINES.values()), GOOD[1]]
    codes = [(code, index) for index, (_, code) in enumerate(BAD_LINES.values(), start=2)]
    tmp_store.save_lines(*lines)
    tmp_store.open()
    assert tmp_store.codes() == codes
    tmp_store.put(entry("c"))
    tmp_store.reopen()

    assert tmp_store.lines() == [*lines, line_of(entry("c"))]
    assert tmp_store.codes() == codes
    assert set(tmp_store.documents()) == {"a", "b", "c"}


@pytest.mark.fault("F10")
def test_a_bad_line_in_the_place_of_an_entry_keeps_its_last_good_version(
    tmp_store: StoreBox,
) -> None:
    for line, code in BAD_LINES.values():
        if code == "foreignProject":
            continue  # another entry in the place of this one: that is a deletion
        bad = re.sub(rb'"p:\w+"', b'"p:b"', line)
        tmp_store.save_lines(*GOOD, line_of(entry("c")))
        tmp_store.store.reload()
        tmp_store.fold()
        tmp_store.save_lines(GOOD[0], bad, line_of(entry("c")))
        tmp_store.store.reload()
        tmp_store.fold()
        tmp_store.reopen()

        assert tmp_store.get("b") == entry("b")
        assert tmp_store.lines() == [GOOD[0], bad, line_of(entry("c"))]


@pytest.mark.fault("F10")
def logged(log: pytest.LogCaptureFixture, event: str) -> list[tuple[Any, ...]]:
    """Return file, line and reason of every record of an event."""
    return [
        (one.__dict__["file"], one.__dict__["line"], one.__dict__["reason"])
        for one in log.records
        if one.getMessage() == event
    ]


@pytest.mark.fault("F10")
def test_a_bad_line_is_logged_once_when_it_is_found_and_once_when_it_is_mended(
    tmp_store: StoreBox, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="qms")
    tmp_store.save_lines(GOOD[0], b"no JSON", GOOD[1])
    tmp_store.store.reload()

    ((file, line, reason),) = logged(caplog, "bad line found")
    assert (file, line) == ("entries.jsonl", 2)
    assert reason.startswith("notJson: ")

    tmp_store.save_lines(line_of(entry("new")), GOOD[0], b"no JSON", GOOD[1])
    tmp_store.store.reload()
    tmp_store.put(statement("a", "changed"))
    tmp_store.fold()
    assert len(logged(caplog, "bad line found")) == 1, "it only stands elsewhere now"
    assert logged(caplog, "bad line repaired") == []

    tmp_store.save_lines(*GOOD)
    tmp_store.store.reload()
    assert logged(caplog, "bad line repaired") == [("entries.jsonl", 3, reason)]


@pytest.mark.fault("F10")
def test_a_bad_line_is_logged_at_every_start_and_when_the_page_mends_it(
    tmp_store: StoreBox, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_store.save_lines(GOOD[0], b"no JSON", GOOD[1])
    tmp_store.store.reload()
    tmp_store.fold()
    caplog.set_level(logging.INFO, logger="qms")
    caplog.clear()
    tmp_store.reopen()

    assert [one[:2] for one in logged(caplog, "bad line found")] == [("entries.jsonl", 2)]

    seen = tmp_store.store.line_repair.find(2)
    assert seen is not None
    tmp_store.store.line_repair.take_out(2, seen.version)

    assert [one[:2] for one in logged(caplog, "bad line repaired")] == [("entries.jsonl", 2)]


def test_the_walk_notices_a_fold_that_drops_what_it_cannot_read(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete: Callable[..., Any] = image_module.read_image

    def dropping(*arguments: Any) -> Any:
        reading = complete(*arguments)
        image: Image = reading.image
        keep = [index for index, entry_id in enumerate(image.ids) if entry_id is not None]
        image.raws = [image.raws[index] for index in keep]
        image.ids = [image.ids[index] for index in keep]
        return reading

    monkeypatch.setattr("qms.store.reload.read_image", dropping)
    with pytest.raises((AssertionError, IndexError)):
        walk(tmp_store, *BAD_LINES["not JSON"])


@pytest.mark.fault("F10")
@pytest.mark.parametrize("name", ["duplicate key", "NaN", "infinity", "half a surrogate"])
def test_the_walk_notices_a_reader_that_is_not_strict(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(hand_lines, "read_strictly", lambda line, limits: json.loads(line))
    with pytest.raises((AssertionError, ValueError, TypeError)):
        walk(tmp_store, *BAD_LINES[name])


@pytest.mark.fault("F10")
def test_a_line_deeper_than_the_interpreter_goes_is_only_a_bad_line(tmp_store: StoreBox) -> None:
    depth = sys.getrecursionlimit() * 50
    walk(tmp_store, b"[" * depth, "tooDeep")


# -- the same id twice

OLD, NEW = line_of(statement("x", "old")), line_of(statement("x", "new"))


def check_twice(box: StoreBox) -> None:
    assert box.text("x") == "new"
    assert box.lines()[:3] == [OLD, GOOD[0], NEW]
    assert box.codes() == [("duplicateId", 1)]
    assert "p:x" in box.store.problems()[0].reason


def walk_twice(box: StoreBox) -> None:
    box.save_lines(OLD, GOOD[0], NEW)
    box.open()
    check_twice(box)
    box.put(entry("b"))
    box.fold()
    check_twice(box)
    box.reopen()
    check_twice(box)
    box.put(statement("x", "newest"))
    box.reopen()
    assert box.text("x") == "newest"
    assert box.lines()[:3] == [OLD, GOOD[0], line_of(statement("x", "newest"))]
    box.remove("x")
    box.reopen()
    assert OLD in box.lines()


@pytest.mark.fault("F11")
def test_of_two_lines_with_one_id_the_last_lives_and_the_other_is_kept(
    tmp_store: StoreBox,
) -> None:
    walk_twice(tmp_store)


@pytest.mark.fault("F11")
def test_a_second_line_that_is_added_live_takes_over(tmp_store: StoreBox) -> None:
    tmp_store.save_lines(OLD, GOOD[0])
    tmp_store.open()
    tmp_store.fold()
    tmp_store.save_lines(OLD, GOOD[0], NEW)
    tmp_store.store.reload()

    check_twice(tmp_store)
    tmp_store.save_lines(OLD, GOOD[0])
    tmp_store.store.reload()
    assert tmp_store.text("x") == "old"
    assert tmp_store.codes() == []


@pytest.mark.fault("F11")
def test_the_walk_notices_a_store_that_forgets_the_first_of_two(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image_module, "_repeated_id", lambda index, entry_id: None)
    monkeypatch.setattr("qms.store.file_image.Image.other_lines", lambda self: [])
    with pytest.raises((AssertionError, AttributeError, ValueError)):
        walk_twice(tmp_store)
