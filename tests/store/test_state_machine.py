"""Any order of writes, hand edits, folds, crashes and restarts against a plain dictionary."""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from qms.store.options import FoldOutcome
from tests.support.stores import (
    State,
    UnsyncedDisk,
    abandon,
    applied,
    open_store,
    state_of,
    write,
)


def good(lines: dict[str, str]) -> int:
    """Return how many lines are entries: a file that has none any more is held."""
    return sum(not line.startswith("{spoiled") for line in lines.values())


KEYS = [f"k{number}" for number in range(6)]
keys = st.sampled_from(KEYS)


class Way(msgspec.Struct, frozen=True):
    """How a person edits: with the server running or not, knowing its latest writes or not."""

    while_down: bool
    after_fold: bool


ways = st.builds(Way, while_down=st.booleans(), after_fold=st.booleans())


class StoreMachine(RuleBasedStateMachine):
    """A store beside a dictionary; a person's lines are told apart from the server's by texts."""

    def __init__(self) -> None:
        super().__init__()
        self._root = Path(tempfile.mkdtemp(prefix="qms-machine-"))
        self._folder = self._root / "p"
        self._path = self._folder / "entries.jsonl"
        self._count = 0
        self._edits = 0
        self.model: State = {}
        self.bad_lines: list[str] = []
        self.lost: list[str] = []
        """Texts of the server that a person went over without having seen them."""
        self.spoiled: State = {}
        """Texts that a person saw and spoiled."""
        self.store = open_store(self._folder, disk=UnsyncedDisk())

    def teardown(self) -> None:
        abandon(self.store)
        shutil.rmtree(self._root)

    def _text(self) -> str:
        self._count += 1
        return f"text {self._count}"

    @rule(key=keys)
    def upsert(self, key: str) -> None:
        self._write({key: self._text()}, "upsertEntry")

    @rule(key=keys)
    def patch(self, key: str) -> None:
        self._write({key: self._text()}, "patchEntry")

    @rule(key=keys)
    def delete(self, key: str) -> None:
        self._write({key: None}, "deleteEntry")

    @rule(some=st.lists(keys, min_size=2, max_size=4, unique=True))
    def bulk(self, some: list[str]) -> None:
        self._write(dict.fromkeys(some, self._text()), "bulkImport")

    def _write(self, changes: dict[str, str | None], verb: str) -> None:
        write(self.store, changes, verb=verb)
        self.model = applied(self.model, changes)

    @rule()
    def fold(self) -> None:
        assert self.store.fold() in (FoldOutcome.FOLDED, FoldOutcome.NOTHING)

    @rule()
    def crash(self) -> None:
        abandon(self.store)
        self.store = open_store(self._folder, disk=UnsyncedDisk())

    @rule()
    def restart(self) -> None:
        self.store.close()
        self.store = open_store(self._folder, disk=UnsyncedDisk())
        assert self.store.status().pending_journal == 0

    @precondition(lambda self: self._path.exists())
    @rule(key=keys, how=ways)
    def change_by_hand(self, key: str, how: Way) -> None:
        def edit(lines: dict[str, str]) -> None:
            if key in lines:
                text = self._text()
                self._take(key, text, lines)
                head, _, tail = lines[key].partition('"body":{"text":"')
                lines[key] = f'{head}"body":{{"text":"{text}"{tail[tail.index("}") :]}'

        self._edit(edit, how=how)

    @precondition(lambda self: self._path.exists())
    @rule(key=keys, how=ways)
    def add_by_hand(self, key: str, how: Way) -> None:
        def edit(lines: dict[str, str]) -> None:
            if key not in lines:
                text = self._text()
                self._take(key, text, lines)
                lines[key] = f'{{"id":"p:{key}","kind":"note","body":{{"text":"{text}"}}}}'

        self._edit(edit, how=how)

    @precondition(lambda self: self._path.exists())
    @rule(key=keys, how=ways)
    def remove_by_hand(self, key: str, how: Way) -> None:
        def edit(lines: dict[str, str]) -> None:
            if key in lines and good(lines) > 1:
                self._take(key, None, lines)
                del lines[key]

        self._edit(edit, how=how)

    @precondition(lambda self: self._path.exists())
    @rule(key=keys, how=ways, shows_id=st.booleans())
    def spoil_by_hand(self, key: str, how: Way, shows_id: bool) -> None:
        """Spoil a line: the entry keeps its last good version, the line stays as it is."""

        def edit(lines: dict[str, str]) -> None:
            if key in lines and good(lines) > 1:
                text = lines[key].partition('"body":{"text":"')[2].partition('"')[0]
                shown = f'"id":"p:{key}"' if shows_id else ""
                lines[key] = f"{{spoiled {self._text()} {shown}"
                self.bad_lines.append(lines[key])
                self.spoiled[key] = text

        # Which entry a line without an id stood for can be told from one edit, not from two at
        # once: then the store keeps more entries than the person did.
        self._edit(edit, how=how if shows_id else msgspec.structs.replace(how, after_fold=True))
        self.fold()

    def _take(self, key: str, text: str | None, lines: dict[str, str]) -> None:
        """Let the dictionary follow a person, who goes over what the file does not show."""
        known = self.model.get(key)
        is_seen = f'"{known}"' in lines.get(key, "") or self.spoiled.get(key) == known
        if known is not None and not is_seen:
            self.lost.append(known)
        self.model = applied(self.model, {key: text})

    def _edit(self, edit: Callable[[dict[str, str]], None], *, how: Way) -> None:
        """Save the file by rename, edited."""
        if how.after_fold:
            self.fold()
        if how.while_down:
            abandon(self.store)
        lines: dict[str, str] = {}
        for number, line in enumerate(self._path.read_text(encoding="utf-8").splitlines()):
            key = line.partition('"id":"p:')[2].partition('"')[0]
            lines[key if line not in self.bad_lines else f"bad{number}"] = line
        edit(lines)
        saved = self._root / "saved"
        saved.write_text("".join(f"{line}\n" for line in lines.values()), encoding="utf-8")
        self._edits += 1
        os.utime(saved, ns=(self._edits, 10**18 + self._edits))
        saved.replace(self._path)
        if how.while_down:
            self.store = open_store(self._folder, disk=UnsyncedDisk())
        else:
            assert self.store.reload().settled

    @invariant()
    def the_store_holds_what_the_dictionary_says(self) -> None:
        assert state_of(self.store) == self.model

    @invariant()
    def what_a_person_went_over_is_kept_as_a_conflict_copy(self) -> None:
        copies = [line["entry"]["body"]["text"] for line in self.store.conflicts()]
        assert set(self.lost) <= set(copies)
        assert self.store.status().conflicts == len(copies)

    @invariant()
    def nothing_is_held(self) -> None:
        assert not self.store.status().held
        assert not self.store.is_read_only

    @invariant()
    def every_bad_line_is_in_the_file_and_reported(self) -> None:
        if not self._path.exists():
            return
        lines = self._path.read_text(encoding="utf-8").splitlines()
        assert [line for line in lines if line in self.bad_lines] == [
            line for line in lines if line.startswith("{spoiled")
        ]
        assert set(self.bad_lines) <= set(lines)
        assert len(self.store.problems()) == len(self.bad_lines)


SETTINGS = settings(
    max_examples=150,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.slow
def test_a_store_holds_what_a_dictionary_would_after_any_history() -> None:
    run_state_machine_as_test(StoreMachine, settings=SETTINGS)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_store_holds_what_a_dictionary_would_after_long_histories() -> None:
    run_state_machine_as_test(
        StoreMachine, settings=settings(SETTINGS, max_examples=3000, stateful_step_count=60)
    )


@pytest.mark.slow
def test_without_the_journal_the_check_fails() -> None:
    class Forgetful(StoreMachine):
        @rule()
        def crash(self) -> None:
            (self._folder / ".qms" / "journal.wal").unlink()
            super().crash()

    with pytest.raises(AssertionError):
        run_state_machine_as_test(
            Forgetful, settings=settings(SETTINGS, report_multiple_bugs=False)
        )
