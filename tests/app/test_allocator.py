"""A server keeps its threads to few arenas and gives large blocks back, so that it stays small."""

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import psutil
import pytest

from qms.app.allocator import MAX_ARENAS, OWN_PAGES_FROM
from tests.support.server import ADMIN_KEY, ServerProcess, configured

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="arenas are glibc's")

ARENA_BYTES = 64 << 20
"""glibc reserves so much for each heap, at a multiple of it."""

BUSY_THREADS = """
import threading
from qms.app.allocator import spare_memory
{first}
together = threading.Barrier(17)
def fill():
    kept = [bytes(1000) for _ in range(1000)]
    together.wait()
    together.wait()
threads = [threading.Thread(target=fill) for _ in range(16)]
for thread in threads:
    thread.start()
together.wait()
print("ready", flush=True)
input()
together.wait()
"""


LARGE_BLOCKS = """
import ctypes
from qms.app.allocator import OWN_PAGES_FROM, spare_memory
{first}
class Figures(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "own_pages",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]
library = ctypes.CDLL(None)
library.mallinfo2.restype = Figures
bytearray(20 * OWN_PAGES_FROM)  # freed at once: by itself, glibc keeps what is smaller from now on
before = library.mallinfo2().own_pages
kept = bytearray(2 * OWN_PAGES_FROM)
print(library.mallinfo2().own_pages - before)
"""


HOLES = """
from qms.app.allocator import give_back, spare_memory
spare_memory()
freed, kept = [], []
for _ in range(1000):
    freed.append(bytearray(50_000))
    kept.append(bytearray(1_000))
del freed
{then}
print("ready", flush=True)
input()
"""


def arenas_of(process_id: int) -> int:
    """Return how many heaps of arenas a process has, beside that of the first arena.

    One begins and ends at a multiple of `ARENA_BYTES`: what is in use, and behind it what is not.
    """
    maps = Path(f"/proc/{process_id}/maps").read_text(encoding="utf-8")
    spans = []
    for line in maps.splitlines():
        extent, rights = line.split()[:2]
        start, _, end = extent.partition("-")
        spans.append((int(start, 16), int(end, 16), rights))
    return sum(
        start % ARENA_BYTES == 0
        and (rights, next_rights) == ("rw-p", "---p")
        and (end, next_end) == (next_start, start + ARENA_BYTES)
        for (start, end, rights), (next_start, next_end, next_rights) in pairwise(spans)
    )


def measured(program: str, measure: Callable[[int], int]) -> int:
    """Return what is measured of a program that has said that it is ready."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        found = measure(process.pid)
        process.communicate("\n")
    return found


def resident_bytes(process_id: int) -> int:
    return int(psutil.Process(process_id).memory_info().rss)


def arenas_of_busy_threads(first: str) -> int:
    return measured(BUSY_THREADS.format(first=first), arenas_of)


def test_threads_share_few_arenas() -> None:
    assert arenas_of_busy_threads("spare_memory()") < MAX_ARENAS
    assert arenas_of_busy_threads("") >= MAX_ARENAS, "the measure sees no arenas"


def test_a_server_shares_few_arenas(tmp_path: Path) -> None:
    with ServerProcess(configured(tmp_path), key=ADMIN_KEY) as server:
        for number in range(20):
            entry = {"kind": "note", "body": f"note {number}"}
            server.call("projA", "upsertEntry", entry=entry)
        server.call("projA", "searchEntries", query={"text": "note"})

        assert arenas_of(server.process.pid) < MAX_ARENAS


def own_pages_of_a_large_block(first: str) -> int:
    command = [sys.executable, "-c", LARGE_BLOCKS.format(first=first)]
    return int(subprocess.run(command, capture_output=True, check=True, encoding="utf-8").stdout)


def test_large_blocks_have_pages_of_their_own() -> None:
    assert own_pages_of_a_large_block("spare_memory()") >= 2 * OWN_PAGES_FROM
    assert own_pages_of_a_large_block("") == 0, "the measure sees no difference"


def resident_with_holes(then: str) -> int:
    return measured(HOLES.format(then=then), resident_bytes)


def test_what_is_free_between_blocks_in_use_is_given_back() -> None:
    assert resident_with_holes("") - resident_with_holes("give_back()") > 30_000_000
