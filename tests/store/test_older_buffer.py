"""A person saves an editor's older buffer: the file before one of the last folds, edited or not."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qms.memory.hand_lines import GoodLine
from qms.memory.validation import header_of
from qms.store import older_buffer, reload
from qms.store.file_image import FileReading, Image
from qms.store.fold_log import MAX_MARKS, step_of
from qms.store.options import FoldOutcome
from tests.support.boxes import NOW, Clock, StoreBox, entry, line_of, statement
from tests.support.stores import UnsyncedDisk, abandon

WAYS = ["live", "killed after the save", "killed before the save", "stopped", "taken and killed"]
"""When the server sees the save."""


def kill(box: StoreBox) -> None:
    abandon(box.store)
    box.crash()


def save(box: StoreBox, data: bytes, way: str) -> None:
    """Save the file and have the server take it."""
    if way == "killed before the save":
        kill(box)
    elif way == "stopped":
        box.close()
    box.save(data)
    if way == "killed after the save":
        kill(box)
    box.store.reload()
    if way == "taken and killed":
        kill(box)
        box.store.reload()


def texts(box: StoreBox) -> dict[str, str]:
    return {local: one["body"]["statement"] for local, one in sorted(box.documents().items())}


def archived(box: StoreBox) -> list[str]:
    return [one["entry"]["body"]["statement"] for one in box.archived()]


def has_notice(box: StoreBox) -> bool:
    return ("olderBuffer", None) in box.codes()


def opened(box: StoreBox) -> bytes:
    """Return the file as a person opened it; the server folds twice afterwards."""
    box.put(*(statement(local, f"{local}1") for local in "abcd"))
    box.fold()
    buffer = box.path.read_bytes()
    box.put(statement("a", "a2"), statement("new", "new1"))
    box.fold()
    box.put(statement("a", "a3"))
    box.remove("d")
    box.fold()
    return buffer


def lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


PRESENT = {"a": "a3", "b": "b1", "c": "c1", "new": "new1"}

# what the person did in the older buffer, the entries afterwards, the versions that lost, the
# archive
SCENES: dict[str, tuple[Callable[[bytes], bytes], dict[str, str], list[str], list[str]]] = {
    "changed another entry": (
        lambda data: data.replace(b"b1", b"by hand"),
        {**PRESENT, "b": "by hand"},
        [],
        ["d1"],
    ),
    "changed what the fold changed": (
        lambda data: data.replace(b"a1", b"by hand"),
        {**PRESENT, "a": "by hand"},
        ["a3"],
        ["d1"],
    ),
    "changed what the fold removed": (
        lambda data: data.replace(b"d1", b"by hand"),
        {**PRESENT, "d": "by hand"},
        ["by hand"],
        ["d1"],
    ),
    "removed another entry": (
        lambda data: b"".join(one for one in lines(data) if b"b1" not in one),
        {one: text for one, text in PRESENT.items() if one != "b"},
        [],
        ["d1", "b1"],
    ),
    "removed what the fold changed": (
        lambda data: b"".join(one for one in lines(data) if b"a1" not in one),
        {one: text for one, text in PRESENT.items() if one != "a"},
        ["a3"],
        ["d1", "a3"],
    ),
    "added an entry": (
        lambda data: data + line_of(statement("mine", "mine1")) + b"\n",
        {**PRESENT, "mine": "mine1"},
        [],
        ["d1"],
    ),
    "wrote a line that cannot be read": (
        lambda data: data + b"{a thought\n",
        PRESENT,
        [],
        ["d1"],
    ),
    "turned the order round": (
        lambda data: b"".join(reversed(lines(data))),
        PRESENT,
        [],
        ["d1"],
    ),
    "changed another entry, with other line ends": (
        lambda data: data.replace(b"b1", b"by hand").replace(b"\n", b"\r\n"),
        {**PRESENT, "b": "by hand"},
        [],
        ["d1"],
    ),
}


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("scene", SCENES)
def test_an_edited_older_buffer_is_merged_with_the_file_that_it_came_from(
    tmp_store: StoreBox, scene: str, way: str
) -> None:
    edit, expected, lost, gone = SCENES[scene]
    save(tmp_store, edit(opened(tmp_store)), way)

    for number in range(3):
        assert texts(tmp_store) == expected
        assert sorted(tmp_store.conflict_texts()) == sorted(lost)
        if number == 0:
            assert has_notice(tmp_store) or way == "taken and killed"
        tmp_store.fold()
        assert archived(tmp_store) == gone
        tmp_store.reopen()
    in_file = {msgspec.json.decode(one)["id"] for one in tmp_store.lines() if b"thought" not in one}
    assert in_file == {f"p:{local}" for local in expected}
    assert not has_notice(tmp_store)
    assert (b"{a thought" in tmp_store.lines()) is ("cannot be read" in scene)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS[:4])
def test_without_looking_for_the_older_file_the_save_would_revert_the_folds(
    tmp_store: StoreBox, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(reload, "judge", lambda *given, **named: older_buffer.Verdict())
    save(tmp_store, opened(tmp_store).replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {"a": "a1", "b": "by hand", "c": "c1", "d": "d1"}
    assert tmp_store.conflict_texts() == []


# -- what only lacks the lines of folds is meant


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("ends", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_the_newest_entry_is_deleted_at_once_when_its_line_alone_is_removed(
    tmp_store: StoreBox, way: str, ends: bytes
) -> None:
    opened(tmp_store)
    tmp_store.put(statement("newest", "newest1"))
    tmp_store.fold()
    tmp_store.clock.advance(minutes=5)
    left = [one for one in lines(tmp_store.path.read_bytes()) if b"newest1" not in one]
    save(tmp_store, b"".join(left).replace(b"\n", ends), way)

    assert texts(tmp_store) == PRESENT
    assert not has_notice(tmp_store)
    tmp_store.fold()
    assert archived(tmp_store) == ["d1", "newest1"]


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("hours", [0, 1, 100])
def test_going_back_to_a_whole_earlier_file_is_taken_and_nothing_of_it_is_nowhere(
    tmp_store: StoreBox, way: str, hours: int
) -> None:
    buffer = opened(tmp_store)
    tmp_store.clock.advance(hours=hours)
    save(tmp_store, buffer, way)

    assert texts(tmp_store) == {local: f"{local}1" for local in "abcd"}
    assert not has_notice(tmp_store)
    assert "a3" in tmp_store.conflict_texts()
    tmp_store.fold()
    assert "new1" in archived(tmp_store)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
def test_a_save_that_shows_one_line_of_a_fold_has_seen_all_of_it(
    tmp_store: StoreBox, way: str
) -> None:
    tmp_store.put(statement("a", "a1"), statement("b", "b1"))
    tmp_store.fold()
    tmp_store.put(statement("x", "x1"), statement("y", "y1"))
    tmp_store.fold()
    left = [one for one in lines(tmp_store.path.read_bytes()) if b"x1" not in one]
    save(tmp_store, b"".join(left).replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {"a": "a1", "b": "by hand", "y": "y1"}
    assert tmp_store.conflict_texts() == []
    assert not has_notice(tmp_store)


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
def test_a_fold_of_yesterday_is_no_older_buffer_and_what_the_save_goes_over_is_kept(
    tmp_store: StoreBox, way: str
) -> None:
    buffer = opened(tmp_store)
    tmp_store.clock.advance(seconds=older_buffer.MAX_AGE.total_seconds())
    save(tmp_store, buffer.replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {"a": "a1", "b": "by hand", "c": "c1", "d": "d1"}
    assert "a3" in tmp_store.conflict_texts()
    tmp_store.fold()
    assert "new1" in archived(tmp_store)


@pytest.mark.fault("F13")
def test_of_two_states_that_fit_a_save_comes_from_the_newer_one(tmp_store: StoreBox) -> None:
    tmp_store.put(*(statement(local, f"{local}1") for local in "abc"))
    tmp_store.fold()
    tmp_store.put(statement("a", "a2"))
    tmp_store.fold()
    buffer = tmp_store.path.read_bytes()
    tmp_store.put(statement("b", "b2"))
    tmp_store.fold()
    tmp_store.clock.advance(hours=1)
    left = [one for one in lines(buffer) if b"a2" not in one]
    save(tmp_store, b"".join(left).replace(b"c1", b"by hand"), "live")

    assert texts(tmp_store) == {"b": "b2", "c": "by hand"}
    assert has_notice(tmp_store)
    assert tmp_store.conflict_texts() == []


# -- more than one save, more than one person


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("is_folded", [True, False], ids=["folded", "not folded"])
def test_a_second_save_of_the_same_buffer_loses_nothing_either(
    tmp_store: StoreBox, way: str, is_folded: bool
) -> None:
    first = opened(tmp_store).replace(b"b1", b"by hand")
    save(tmp_store, first, way)
    if is_folded:
        tmp_store.fold()
    save(tmp_store, first.replace(b"c1", b"by hand, too"), way)

    assert texts(tmp_store) == {**PRESENT, "b": "by hand", "c": "by hand, too"}
    assert tmp_store.conflict_texts() == []


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
def test_what_another_person_saved_meanwhile_stays_with_what_was_folded(
    tmp_store: StoreBox, way: str
) -> None:
    buffer = opened(tmp_store)
    save(tmp_store, tmp_store.path.read_bytes().replace(b"c1", b"theirs"), way)
    tmp_store.put(statement("later", "later1"))
    tmp_store.fold()
    save(tmp_store, buffer.replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {**PRESENT, "b": "by hand", "c": "theirs", "later": "later1"}


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
def test_a_person_undoes_an_edit_of_their_own(tmp_store: StoreBox, way: str) -> None:
    opened(tmp_store)
    before = tmp_store.path.read_bytes()
    save(tmp_store, before.replace(b"c1", b"by hand"), way)
    tmp_store.fold()
    save(tmp_store, before.replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {**PRESENT, "b": "by hand"}
    assert not has_notice(tmp_store)
    assert tmp_store.conflict_texts() == []


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("has_id", [True, False])
@pytest.mark.parametrize("is_edited", [True, False])
def test_a_line_that_the_server_completed_is_not_taken_again_from_the_buffer(
    tmp_store: StoreBox, way: str, has_id: bool, is_edited: bool
) -> None:
    tmp_store.put(statement("a", "a1"), statement("b", "b1"))
    tmp_store.fold()
    typed = {"kind": "fact", "body": {"statement": "typed"}}
    line = line_of({"id": "p:mine", **typed} if has_id else typed)
    buffer = tmp_store.path.read_bytes() + line + b"\n"
    save(tmp_store, buffer, way)
    tmp_store.fold()
    completed = tmp_store.documents()
    save(tmp_store, buffer.replace(b"b1", b"by hand") if is_edited else buffer, way)
    tmp_store.fold()

    assert completed.keys() == tmp_store.documents().keys()
    left = {one: document for one, document in tmp_store.documents().items() if one != "b"}
    assert left.items() <= completed.items()
    assert tmp_store.conflict_texts() == []
    assert b"".join(tmp_store.lines()).count(b"typed") == len(tmp_store.documents()) - 1


@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS)
def test_a_person_takes_out_a_line_of_their_own_that_the_server_completed(
    tmp_store: StoreBox, way: str
) -> None:
    tmp_store.put(statement("a", "a1"), statement("b", "b1"))
    tmp_store.fold()
    before = tmp_store.path.read_bytes()
    save(tmp_store, before + b'{"kind":"fact","body":{"statement":"typed"}}\n', way)
    tmp_store.fold()
    save(tmp_store, before.replace(b"b1", b"by hand"), way)

    assert texts(tmp_store) == {"a": "a1", "b": "by hand"}
    assert not has_notice(tmp_store)


@pytest.mark.fault("F14")
@pytest.mark.parametrize("way", WAYS[:4])
def test_a_large_deletion_in_an_older_buffer_is_held(tmp_store: StoreBox, way: str) -> None:
    tmp_store.put(*(entry(f"e{number}") for number in range(20)))
    tmp_store.fold()
    buffer = tmp_store.path.read_bytes()
    tmp_store.put(statement("new", "new1"))
    tmp_store.fold()
    save(tmp_store, b"".join(lines(buffer)[:5]), way)

    assert tmp_store.store.status().held
    assert len(tmp_store.documents()) == 21
    tmp_store.store.accept_held()
    assert sorted(tmp_store.documents()) == ["e0", "e1", "e2", "e3", "e4", "new"]


# -- the log of folds is a cache


def spoil_middle(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] + b"\xff" + data[len(data) // 2 + 1 :])


@pytest.mark.fault("F09")
@pytest.mark.parametrize("way", WAYS[2:4])
@pytest.mark.parametrize("harm", [Path.unlink, spoil_middle, lambda path: path.write_bytes(b"")])
def test_without_the_log_of_folds_what_a_save_goes_over_is_kept_and_reported(
    tmp_store: StoreBox, way: str, harm: Callable[[Path], object]
) -> None:
    buffer = opened(tmp_store)
    tmp_store.close()
    harm(tmp_store.own / "folds.jsonl")
    tmp_store.open()
    save(tmp_store, buffer.replace(b"b1", b"by hand"), way)

    kept = {*texts(tmp_store).values(), *tmp_store.conflict_texts(), *archived(tmp_store)}
    assert {"a3", "new1", "by hand"} <= kept
    assert tmp_store.store.status().conflicts or tmp_store.store.problems()
    tmp_store.put(statement("next", "next1"))
    tmp_store.fold()
    assert tmp_store.store.fold() is FoldOutcome.NOTHING


@pytest.mark.slow
@pytest.mark.fault("F13")
@pytest.mark.parametrize("way", WAYS[:4])
def test_a_save_from_before_an_import_that_is_too_large_for_the_log_leaves_copies(
    tmp_path: Path, way: str
) -> None:
    box = StoreBox(tmp_path, disk=UnsyncedDisk())
    box.put(*(statement(f"e{number}", "old") for number in range(MAX_MARKS + 1)))
    box.fold()
    buffer = box.path.read_bytes()
    box.put(*(statement(f"e{number}", "new") for number in range(MAX_MARKS + 1)))
    box.fold()
    box.clock.advance(minutes=5)
    save(box, buffer.replace(b'"old"', b'"by hand"', 1), way)

    assert box.text("e0") == "by hand"
    assert box.conflict_texts() == ["new"] * (MAX_MARKS + 1)
    kill(box)


def test_an_erased_entry_leaves_no_trace_in_the_log_of_folds(tmp_store: StoreBox) -> None:
    opened(tmp_store)
    log = tmp_store.own / "folds.jsonl"
    assert b'"p:new"' in log.read_bytes()
    tmp_store.store.eraser.erase("p:new", tmp_store.origin())

    assert b'"p:new"' not in log.read_bytes()
    save(tmp_store, tmp_store.path.read_bytes().replace(b"b1", b"by hand"), "stopped")
    assert tmp_store.conflict_texts() == []


# -- the judgement as a function


def judged(
    folds: list[dict[str, bytes | None]], saved: dict[str, bytes], now: dict[str, bytes]
) -> older_buffer.Verdict:
    """Judge a save after folds, each given by the lines before it."""
    steps = [
        step_of(before, source=f"s{number}", target=f"s{number + 1}", at_utc=NOW)
        for number, before in enumerate(folds)
    ]
    image = Image(ids=list(saved), raws=list(saved.values()))
    good = GoodLine(header_of(entry("a")), b"")
    fresh = {one: good for one, line in saved.items() if now.get(one) != line}
    return older_buffer.judge(
        older_buffer.Save(
            reading=FileReading(image=image, fresh=fresh),
            image=Image(ids=list(now), raws=list(now.values())),
            base=now,
            missing=now.keys() - saved.keys(),
            spoiled=frozenset(),
        ),
        older_buffer.History(steps=steps, is_whole=True),
        now=NOW,
        unseen_s=60,
    )


@pytest.mark.parametrize(
    ("folds", "saved", "unseen"),
    [
        ([{"a": b"1"}], {"a": b"2", "b": b"1"}, set()),
        ([{"a": b"1"}], {"a": b"1", "b": b"2"}, {"a"}),
        ([{"a": b"1", "b": b"1"}], {"a": b"3", "b": b"2"}, set()),
        ([{"a": b"1", "b": b"1"}], {"a": b"1", "b": b"2"}, {"a"}),
        ([{"b": b"1"}, {"a": b"1"}], {"a": b"1", "b": b"1"}, {"a", "b"}),
        ([{"b": b"1"}, {"a": b"1"}], {"a": b"3", "b": b"2"}, {"a"}),
        ([{"b": b"1"}, {"a": b"1"}], {"a": b"2", "b": b"3"}, set()),
        ([{"a": b"1", "c": b"1"}], {"a": b"3", "b": b"2", "c": b"1"}, {"a", "c"}),
    ],
)
def test_a_copy_is_kept_of_what_was_not_seen_and_of_what_is_older_again(
    folds: list[dict[str, bytes | None]], saved: dict[str, bytes], unseen: set[str]
) -> None:
    assert judged(folds, saved, {"a": b"2", "b": b"2"}).unseen == unseen


NOW_LINES = {"a": b"2", "b": b"2", "c": b"1", "new": b"1"}


@pytest.mark.parametrize(
    ("folds", "saved", "stays"),
    [
        # the newest of the states that explain the save
        ([{"a": b"0"}, {"a": b"1"}], {**NOW_LINES, "a": b"1", "c": b"9"}, {"a"}),
        ([{"a": b"0"}, {"a": b"1"}], {**NOW_LINES, "a": b"0", "c": b"9"}, {"a"}),
        ([{"a": b"1"}, {"b": b"1"}], {**NOW_LINES, "a": b"1", "b": b"1", "c": b"9"}, {"a", "b"}),
        # a line of the newer fold was seen, so the older one was too
        ([{"a": b"1"}, {"b": b"1"}], {**NOW_LINES, "a": b"1", "c": b"9"}, set()),
        # an entry that a fold added and the person edited was seen
        ([{"a": b"1", "new": None}], {**NOW_LINES, "a": b"1", "new": b"9"}, set()),
        # nothing else is different
        ([{"a": b"1"}, {"b": b"1"}], {**NOW_LINES, "a": b"1", "b": b"1"}, set()),
        ([{"new": None}], {"a": b"2", "b": b"2", "c": b"1"}, set()),
        # the fold brought a line back that stood there before it
        ([{"a": b"2", "b": b"1"}, {"a": b"1"}], {**NOW_LINES, "b": b"1", "c": b"9"}, {"b"}),
        # a fold removed an entry, the person as well
        ([{"new": None, "old": b"1"}], {"a": b"2", "b": b"2", "c": b"9"}, {"new"}),
    ],
)
def test_the_state_that_explains_a_save_best_is_its_source(
    folds: list[dict[str, bytes | None]], saved: dict[str, bytes], stays: set[str]
) -> None:
    assert judged(folds, saved, NOW_LINES).stays == stays


# -- any interleaving


BASE = [f"b{number}" for number in range(4)]
SERVER = [f"s{number}" for number in range(3)]


class World:
    """A store, every state that its file was in, and what must be somewhere."""

    def __init__(self, folder: Path) -> None:
        self.box = StoreBox(folder, disk=UnsyncedDisk(), clock=Clock())
        self.count = 0
        self.states: list[dict[str, bytes]] = []
        self.brought_back: set[str] = set()
        """What a person went back to: theirs from then on."""
        self.write(dict.fromkeys(["anchor", *BASE], True))

    def text(self, author: str) -> str:
        self.count += 1
        return f"{author} {self.count}"

    def write(self, changes: dict[str, bool], *, folds: bool = True) -> None:
        """Have the server put or remove entries."""
        self.box.put(
            *(statement(one, self.text("server")) for one, is_put in changes.items() if is_put)
        )
        self.box.remove(*(one for one, is_put in changes.items() if not is_put))
        if folds:
            self.box.fold()
            self.note()

    def note(self) -> None:
        state = {}
        for line in self.box.lines():
            state[msgspec.json.decode(line)["id"].removeprefix("p:")] = line
        self.states.append(state)

    def save(self, age: int, edits: list[tuple[str, str]], way: str) -> None:
        """Have a person save an earlier file, edited, and compare what came of it."""
        if way == "stopped":
            self.box.close()
            self.box.open()
            self.note()
        opened = self.states[max(0, len(self.states) - 1 - age)]
        buffer, mine = dict(opened), dict[str, str | None]()
        always = set.intersection(*(set(one) for one in self.states))
        for verb, key in edits:
            self._edit(buffer, mine, verb, key, always)
        before = texts(self.box)
        save(self.box, b"".join(line + b"\n" for line in buffer.values()), way)
        after = texts(self.box)
        if mine:
            assert after == _merged(before, mine)
        else:
            self.brought_back |= {*after.values()} - {*before.values()}
        self.box.fold()
        seen = {msgspec.json.decode(line)["body"]["statement"] for line in opened.values()}
        kept = {*self.box.conflict_texts(), *archived(self.box), *after.values()}
        written = {one for one in before.values() if one.startswith("server")}
        assert written - self.brought_back <= seen | kept
        self.note()
        self.write({f"later{self.count}": True, f"later{self.count - 9}": False})

    def _edit(
        self,
        buffer: dict[str, bytes],
        mine: dict[str, str | None],
        verb: str,
        key: str,
        always: set[str],
    ) -> None:
        text = self.text("person")
        if verb == "add":
            key = f"mine{self.count}"
        elif key not in buffer or (verb == "remove" and key not in always):
            return  # an entry that a fold added and a save lacks may never have been seen
        mine[key] = None if verb == "remove" else text
        if verb == "remove":
            del buffer[key]
        else:
            buffer[key] = line_of(statement(key, text))


def _merged(before: dict[str, str], mine: dict[str, str | None]) -> dict[str, str]:
    merged = {**before, **mine}
    return {local: text for local, text in sorted(merged.items()) if text is not None}


changes = st.dictionaries(st.sampled_from(BASE + SERVER), st.booleans(), min_size=1, max_size=3)
writes = st.tuples(st.just("write"), changes, st.booleans())
edits = st.lists(
    st.tuples(st.sampled_from(["change", "change", "remove", "add"]), st.sampled_from(BASE)),
    max_size=3,
    unique_by=lambda one: one[1],
)
saves = st.tuples(st.just("save"), st.integers(0, 6), edits, st.sampled_from(WAYS))


def play(story: list[tuple]) -> None:  # type: ignore[type-arg]  # two shapes of one story
    folder = Path(tempfile.mkdtemp(prefix="qms-buffers-"))
    world = World(folder)
    try:
        for step in story:
            if step[0] == "write":
                world.write(step[1], folds=step[2])
            else:
                world.save(*step[1:])
    finally:
        kill(world.box)
        shutil.rmtree(folder)


STORIES = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@pytest.mark.fault("F13")
@STORIES
@given(st.lists(st.one_of(writes, saves), max_size=12))
def test_no_order_of_folds_and_saves_of_earlier_files_loses_what_either_side_meant(
    story: list[tuple],  # type: ignore[type-arg]
) -> None:
    play(story)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(STORIES, max_examples=3000)
@given(st.lists(st.one_of(writes, saves), max_size=40))
def test_no_long_order_of_folds_and_saves_loses_what_either_side_meant(
    story: list[tuple],  # type: ignore[type-arg]
) -> None:
    play(story)
