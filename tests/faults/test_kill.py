"""The process dies at any moment (kill -9), again and again, on the same folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from tests.support.oracle import LostWriteError, Oracle, operation
from tests.support.stores import (
    UnsyncedDisk,
    abandon,
    archived_texts,
    assert_files_whole,
    open_store,
    state_of,
)

WRITERS = 8


class Crasher:
    """The process that runs the store, and the oracle that hears it."""

    def __init__(self, process: "subprocess.Popen[str]", oracle: Oracle) -> None:
        self._process = process
        self._oracle = oracle

    def run_and_kill(self, after_lines: int) -> None:
        """Run the store and kill it after so many lines of its report."""
        assert self._process.stdin is not None
        numbers = " ".join(map(str, self._oracle.next_numbers))
        self._process.stdin.write(numbers + "\n")
        self._process.stdin.flush()
        pid = int(self._read_line().removeprefix("p "))
        try:
            for _ in range(after_lines):
                self._hear()
        finally:
            os.kill(pid, signal.SIGKILL)
        while self._hear():
            pass

    def _hear(self) -> bool:
        """Take in one line; False when it says that the worker was killed."""
        line = self._read_line()
        if line.startswith("x"):
            assert line == f"x {int(signal.SIGKILL)}", "the worker ended by itself"
            return False
        if line != "r":
            self._oracle.hear(line)
        return True

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the driver ended"
        return line.rstrip("\n")


@contextmanager
def crasher(folder: Path, oracle: Oracle, *options: str) -> Iterator[Crasher]:
    command = [sys.executable, "-m", "tests.support.crashing", str(folder), *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="ascii"
    ) as process:
        try:
            yield Crasher(process, oracle)
        finally:
            process.kill()


def kill_again_and_again(folder: Path, kills: int, *options: str) -> Oracle:
    oracle, random = Oracle(WRITERS), Random(7)
    with crasher(folder, oracle, *options) as child:
        for _ in range(kills):
            child.run_and_kill(random.choice([0, 1, 2, random.randrange(3, 60), 60, 150]))
            check_after_crash(folder, oracle)
    return oracle


def check_after_crash(folder: Path, oracle: Oracle) -> None:
    store = open_store(folder, disk=UnsyncedDisk())
    try:
        oracle.judge(state_of(store))
        assert store.status().conflicts == 0, store.conflicts()[-1]
        assert store.problems() == []
    finally:
        abandon(store)
    assert_files_whole(folder)


def check_at_the_end(folder: Path, oracle: Oracle) -> None:
    store = open_store(folder)
    store.close()
    assert_files_whole(folder)
    assert oracle.deleted <= set(archived_texts(folder))
    assert oracle.acknowledged > 0


@pytest.mark.fault("F01")
def test_nothing_acknowledged_is_lost_in_two_hundred_kills(tmp_path: Path) -> None:
    oracle = kill_again_and_again(tmp_path / "p", kills=200)

    check_at_the_end(tmp_path / "p", oracle)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.fault("F01")
def test_nothing_acknowledged_is_lost_in_five_thousand_kills(tmp_path: Path) -> None:
    oracle = kill_again_and_again(tmp_path / "p", kills=5000)

    check_at_the_end(tmp_path / "p", oracle)


@pytest.mark.fault("F01")
def test_without_writing_before_the_answer_the_check_fails(tmp_path: Path) -> None:
    with pytest.raises(LostWriteError):
        kill_again_and_again(tmp_path / "p", 30, "lazy")


@pytest.mark.fault("F01")
def test_a_change_that_is_half_there_fails_the_check() -> None:
    oracle = Oracle(1)
    number = next(n for n in range(100) if operation(0, n).verb == "bulkImport")
    oracle.hear(f"i 0 {number}")
    half = dict(list(operation(0, number).changes.items())[:2])

    with pytest.raises(LostWriteError):
        oracle.judge({key: text for key, text in half.items() if text})
