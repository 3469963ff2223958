"""A process that runs out of file descriptors: `python -m tests.support.few_files FOLDER [leaky]`.

It prints one JSON object that says what happened; with `leaky` its disk closes no file.
"""

import json
import os
import resource
import sys
from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.errors import QmsError
from tests.support.stores import open_store, state_of, write

_FOLDS = 30
_SPARE = 12
"""A fold needs three descriptors at once; so many times that are leaked within a few folds."""


class LeakyDisk(Disk):
    """A disk without the guard: descriptors are never given back."""

    def close(self, descriptor: int) -> None:
        return


def limit_files(spare: int) -> None:
    """Allow so many descriptors beyond the lowest free one."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    lowest = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + spare, hard))


def try_to_open(folder: Path) -> str:
    try:
        open_store(folder)
    except (OSError, QmsError) as error:
        return str(error)
    return ""


def main() -> None:
    folder = Path(sys.argv[1])
    disk = LeakyDisk() if sys.argv[2:] == ["leaky"] else Disk()
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_store(folder.parent / "other").close()
    store = open_store(folder, disk=disk)
    write(store, {"a": "a1"})

    limit_files(0)
    write(store, {"b": "b1"})
    told = {
        "fold": store.fold(),
        "problems": [problem.reason for problem in store.problems()],
        "other": try_to_open(folder.parent / "other"),
        "reloadSettled": store.reload().settled,
        "state": state_of(store),
    }

    limit_files(_SPARE)
    outcomes = []
    for number in range(_FOLDS):
        write(store, {"c": f"c{number}"})
        outcomes.append(store.fold())
    told |= {"folds": sorted(set(outcomes)), "problemsAfter": len(store.problems())}
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    store.close()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
