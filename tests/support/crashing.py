"""A process to be killed: it runs one store with many writers and folds, and reports every step.

`python -m tests.support.crashing FOLDER WRITERS [lazy]` forks one worker for each line on its
standard input, which gives the number that each writer begins with. It answers `p <pid>`; the
worker reports `r` when the store is open, then `i` and `a` lines for the oracle; `x <status>`
follows when the worker is dead. With `lazy` the worker's journal answers before it writes.
"""

import os
import sys
import threading
import time
from pathlib import Path

from qms.disk.disk import Disk
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions
from tests.support.oracle import operation
from tests.support.stores import open_store, write

OPTIONS = StoreOptions(fold_after_s=0.004, fold_share=1.0)
_MAX_OPERATIONS = 3000
_LONGEST_WAIT_S = 0.01


class LazyDisk(Disk):
    """A disk without the guard: what is written to the journal stays in memory for a while."""

    def __init__(self) -> None:
        self._journals: dict[int, list[bytes]] = {}

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        descriptor = super().open(path, create=create, mode=mode)
        if path.name == "journal.wal":
            self._journals[descriptor] = []
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        if descriptor not in self._journals:
            return super().write(descriptor, data)
        self._journals[descriptor].append(bytes(data))
        if len(self._journals[descriptor]) >= 10:
            self._flush(descriptor)
        return len(data)

    def close(self, descriptor: int) -> None:
        self._flush(descriptor)
        self._journals.pop(descriptor, None)
        super().close(descriptor)

    def read(self, path: Path) -> bytes:
        for descriptor in self._journals:
            self._flush(descriptor)
        return super().read(path)

    def _flush(self, descriptor: int) -> None:
        for data in self._journals.get(descriptor, []):
            os.write(descriptor, data)
        if descriptor in self._journals:
            self._journals[descriptor].clear()


def say(line: str) -> None:
    os.write(1, line.encode("ascii") + b"\n")


def run_writer(store: MemoryStore, writer: int, first: int) -> None:
    for number in range(first, first + _MAX_OPERATIONS):
        asked = operation(writer, number)
        say(f"i {writer} {number}")
        write(store, asked.changes, verb=asked.verb)
        say(f"a {writer} {number}")


def work(folder: Path, firsts: list[int], disk: Disk) -> None:
    store = open_store(folder, disk=disk, options=OPTIONS)
    say("r")
    threads = [
        threading.Thread(target=run_writer, args=(store, writer, first), daemon=True)
        for writer, first in enumerate(firsts)
    ]
    for thread in threads:
        thread.start()
    while all(thread.is_alive() for thread in threads):
        due = store.fold_due_in(time.monotonic())
        if due == 0.0:
            store.fold()
        else:
            threads[0].join(_LONGEST_WAIT_S if due is None else min(due, _LONGEST_WAIT_S))


def main() -> None:
    folder, lazy = Path(sys.argv[1]), sys.argv[2:] == ["lazy"]
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                work(folder, [int(number) for number in line.split()], _disk(lazy=lazy))
            finally:
                os._exit(1)  # a worker ends by being killed, or something went wrong
        say(f"p {pid}")
        _, status = os.waitpid(pid, 0)
        say(f"x {status}")


def _disk(*, lazy: bool) -> Disk:
    return LazyDisk() if lazy else Disk()


if __name__ == "__main__":
    main()
