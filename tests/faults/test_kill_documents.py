"""A process that stores a document is killed at every sync and rename of a file."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.house import Clock, House
from tests.support.storing import AFTER, BEFORE, store, store_half

SYSCALLS = ("fdatasync", "rename", "renameat2")
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
LIMIT_S = 120


def store_under_strace(root: Path, *options: str) -> tuple[int, str]:
    """Store the document under strace; return the status and the trace."""
    trace = root.with_suffix(".trace")
    command = ["strace", "-f", "--seccomp-bpf", "-o", str(trace), *options]
    command += [sys.executable, "-m", "tests.support.storing", str(root)]
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, timeout=LIMIT_S, check=False
    )
    return done.returncode, trace.read_text(encoding="utf-8", errors="replace")


def points_of(prepared: Path) -> list[tuple[str, int]]:
    """Return every call that an undisturbed run makes, with its number."""
    root = Path(shutil.copytree(prepared, prepared.with_name("counted")))
    status, trace = store_under_strace(root, "-e", f"trace={','.join(SYSCALLS)}")
    assert status == 0, trace[-500:]
    calls = re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE)
    return [(name, n) for name in SYSCALLS for n in range(1, calls.count(name) + 1)]


def texts_after_kills(prepared: Path, every: int) -> Iterator[str]:
    """Yield the text of the document after a kill at every `every`-th point."""
    for name, number in points_of(prepared)[::every]:
        root = Path(shutil.copytree(prepared, prepared.with_name(f"{name}-{number}")))
        inject = f"inject={name}:signal=SIGKILL:when={number}"
        status, _ = store_under_strace(root, "-e", inject)
        # Threads of the server sync on their own: a run may end before the last of its calls.
        assert status in (-signal.SIGKILL, 0), f"{name} {number}"
        if status:
            yield text_in(root)


def text_in(root: Path) -> str:
    """Return the text of the document, and check that it is whole."""
    house = House(root, Clock())
    try:
        door = house.door("reader")
        found = door("getDocument", id="harbour", include="chunks", page={"size": 50})
        expected = 1 + found["metadata"]["chunkCount"]
        assert len(house.store().view) == expected, "chunkCount"
        assert house.store().problems() == []
        return "".join(one["text"] for one in found["chunks"])
    finally:
        house.close()


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """Return a root with the document as it was before."""
    root = tmp_path / "prepared"
    root.mkdir()
    house = House(root, Clock())
    store(house, BEFORE)
    house.close()
    return root


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.needs("strace")
@pytest.mark.fault("F02")
def test_a_kill_leaves_the_document_as_it_was_or_as_it_is_now(prepared: Path) -> None:
    assert set(texts_after_kills(prepared, every=4)) <= {BEFORE, AFTER}


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.needs("strace")
@pytest.mark.fault("F02")
def test_so_does_a_kill_at_any_point(prepared: Path) -> None:
    found = list(texts_after_kills(prepared, every=1))

    assert set(found) == {BEFORE, AFTER}
    assert len(found) > 10


@pytest.mark.fault("F02")
def test_half_of_a_document_would_be_noticed(tmp_path: Path) -> None:
    house = House(tmp_path, Clock())
    store_half(house)
    house.close()

    with pytest.raises(AssertionError, match="chunkCount"):
        text_in(tmp_path)
