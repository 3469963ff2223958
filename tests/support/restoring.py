"""A process to be killed inside a restore, at every operation on the disk.

`python -m tests.support.restoring ROOT BACKUP [stepwise]` forks one worker for each line on its
standard input, which names a copy of the root and the operation to die at. It answers the worker's
exit status. With `stepwise` the worker restores entry by entry: the control without the guard.
"""

import os
import signal
import sys
from pathlib import Path

from qms.disk.disk import Disk
from qms.features.backups.restore import Target, find_past
from qms.store.draft import Draft
from tests.support.house import Clock
from tests.support.workshop import Workshop


class MortalDisk(Disk):
    """A disk whose process dies before the n-th thing asked of it."""

    def __init__(self, dies_at: int) -> None:
        self.left = dies_at

    def _live(self) -> None:
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        self._live()
        half = max(1, len(data) // 2)  # so that a write is torn as well
        written = super().write(descriptor, memoryview(data)[:half])
        self._live()
        return written

    def rename(self, source: Path, target: Path) -> None:
        self._live()
        super().rename(source, target)

    def remove(self, path: Path) -> None:
        self._live()
        super().remove(path)

    def make_folder(self, path: Path) -> None:
        self._live()
        super().make_folder(path)

    def exchange(self, first: Path, second: Path) -> bool:
        self._live()
        return super().exchange(first, second)

    def sync(self, descriptor: int) -> None:
        return

    def sync_folder(self, folder: Path) -> None:
        return


def work(root: Path, backup_id: str, dies_at: int, *, stepwise: bool) -> None:
    disk = MortalDisk(0)
    shop = Workshop(root, Clock(), disk)
    shop.clock.move(days=1)
    shop.store.prepare()  # opened before the countdown begins
    disk.left = dies_at
    if stepwise:
        _restore_stepwise(shop, backup_id)
    else:
        shop.restore(backup_id)
    shop.store.fold()
    os._exit(0)


def _restore_stepwise(shop: Workshop, backup_id: str) -> None:
    past = find_past(shop.store, shop.queue.backup_folder, Target(backup_id=backup_id))
    for line in past.lines.values():

        def plan(draft: Draft, line: bytes = line) -> None:
            draft.put_line(line)

        shop.store.commit(shop.origin("restoreBackup"), plan)


def main() -> None:
    backup_id, stepwise = sys.argv[1], sys.argv[2:] == ["stepwise"]
    for line in sys.stdin:
        root, dies_at = line.rsplit(maxsplit=1)
        pid = os.fork()
        if pid == 0:
            try:
                work(Path(root), backup_id, int(dies_at), stepwise=stepwise)
            finally:
                os._exit(3)  # a worker is killed, or comes to its end
        _, status = os.waitpid(pid, 0)
        os.write(1, f"{status}\n".encode("ascii"))


if __name__ == "__main__":
    main()
