"""Power loss: what a disk may hold after it, from a recording of what was asked of it.

A recording is a list of steps on files and folders. The model follows it and knows for every file
what was synced, and for every folder which names were. After a power loss an unsynced part may be
there, half there, zeros or gone, and an unsynced name may be there or not, each independently of
the other: `outcomes` gives the combinations that file systems are known for.
"""

import errno
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path, PurePath

import msgspec

from tests.support.script import ScriptedDisk

Step = tuple[object, ...]
Names = dict[str, int]


class File(msgspec.Struct):
    """A file's bytes as the process sees them, and as they were last synced."""

    seen: bytes = b""
    synced: bytes = b""
    is_given_up: bool = False
    """A sync failed: the system forgot what it could not write, and no later sync brings it."""


class Outcome(msgspec.Struct, frozen=True):
    """One state in which the disk may be found."""

    name: str
    folders: frozenset[str]
    files: dict[str, bytes]

    def write_to(self, folder: Path) -> None:
        folder.mkdir()
        for path in sorted(self.folders):
            (folder / path).mkdir(exist_ok=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


class Model:
    """Files and names of a disk, with what is durable of them."""

    def __init__(self) -> None:
        self.files: list[File] = []
        self.names: Names = {}
        self.synced_names: Names = {}
        self.folders = {"."}
        self.synced_folders = {"."}
        self._handles: dict[object, int] = {}
        self._last_name_step: Step | None = None

    def copy(self) -> "Model":
        return deepcopy(self)

    def follow(self, step: Step) -> None:
        """Do one recorded step."""
        match step:
            case ("open", str(path), handle):
                if path not in self.names:
                    self.files.append(File())
                    self._rename_step(step, {**self.names, path: len(self.files) - 1})
                self._handles[handle] = self.names[path]
            case (str(verb), int(handle), *rest):
                _change(verb, self.files[self._handles[handle]], *rest)
            case ("folder", str(path)):
                self.folders.add(path)
            case ("syncFolder", str(path)):
                self._sync_folder(path)
            case ("save", str(path), bytes(data)):
                self.files.append(File(data, data))
                self.names[path] = self.synced_names[path] = len(self.files) - 1
            case _:
                self._rename_step(step, renamed(self.names, step))

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the states in which a power loss at this moment may leave the disk."""
        seen, synced = self.names, self.synced_names
        own = {**_outside(synced, ".qms"), **_inside(seen, ".qms")}
        theirs = {**_outside(seen, ".qms"), **_inside(synced, ".qms")}
        last = renamed(synced, self._last_name_step) if self._last_name_step else synced
        choices: list[tuple[str, Names, Callable[[File], bytes]]] = [
            ("killed", seen, lambda file: file.seen),
            ("all unsynced lost", synced, lambda file: file.synced),
            ("unsynced data lost", seen, lambda file: file.synced),
            ("unsynced names lost", synced, lambda file: file.seen),
            ("unsynced data torn", seen, _torn),
            ("unsynced data zeros", seen, _zeros),
            ("names of .qms kept", own, lambda file: file.synced),
            ("names outside .qms kept", theirs, lambda file: file.synced),
            ("only the last name kept", last, lambda file: file.synced),
        ]
        for name, names, data_of in choices:
            folders = _reachable(self.folders if name == "killed" else self.synced_folders)
            files = {
                path: data_of(self.files[number])
                for path, number in names.items()
                if str(PurePath(path).parent) in folders
            }
            yield Outcome(name, frozenset(folders), files)

    def _rename_step(self, step: Step, after: Names) -> None:
        self.names = after
        self._last_name_step = step

    def _sync_folder(self, folder: str) -> None:
        def is_in(path: str) -> bool:
            return str(PurePath(path).parent) == folder

        kept = {path: number for path, number in self.synced_names.items() if not is_in(path)}
        new = {path: number for path, number in self.names.items() if is_in(path)}
        # A file that moved between folders is in one of them, never in both or in none.
        moved = {path: n for path, n in kept.items() if n not in new.values()}
        self.synced_names = {**moved, **new}
        self.synced_folders |= {path for path in self.folders if path != "." and is_in(path)}
        self._last_name_step = None


def _change(verb: str, file: File, *details: object) -> None:
    match (verb, *details):
        case ("write", bytes(data)):
            file.seen += data
        case ("truncate", int(size)):
            file.seen = file.seen[:size]
            file.is_given_up = file.is_given_up and size > len(file.synced)
        case ("sync",) if not file.is_given_up:
            file.synced = file.seen
        case ("failedSync",):
            file.is_given_up = True


def renamed(names: Names, step: Step) -> Names:
    """Return the names after a step that changes them; one that cannot be is left out."""
    match step:
        case ("rename", str(source), str(target)) if source in names:
            after = {path: number for path, number in names.items() if path != source}
            return {**after, target: names[source]}
        case ("exchange", str(first), str(second)) if first in names and second in names:
            return {**names, first: names[second], second: names[first]}
        case ("remove", str(path)):
            return {one: number for one, number in names.items() if one != path}
    return names


def _reachable(folders: set[str]) -> set[str]:
    """Return the folders whose parents are all there."""
    return {
        path for path in folders if all(str(parent) in folders for parent in PurePath(path).parents)
    }


def _inside(names: Names, folder: str) -> Names:
    return {path: number for path, number in names.items() if folder in PurePath(path).parts}


def _outside(names: Names, folder: str) -> Names:
    return {path: number for path, number in names.items() if folder not in PurePath(path).parts}


def _torn(file: File) -> bytes:
    unsynced = len(file.seen) - len(file.synced)
    if unsynced <= 0 or not file.seen.startswith(file.synced):
        return file.synced
    return file.seen[: len(file.synced) + unsynced // 2]


def _zeros(file: File) -> bytes:
    return file.synced + bytes(max(0, len(file.seen) - len(file.synced)))


class RecordingDisk(ScriptedDisk):
    """Does everything but the syncs, and writes down every step below a folder.

    `forgets` names a file or folder (with a slash) whose syncs are left out: the missing guard.
    The sync number `fails_at` fails.
    """

    def __init__(
        self, root: Path, *, forgets: str = "", exchanges: bool = True, fails_at: int = 0
    ) -> None:
        super().__init__()
        self.syncs = 0
        self.failed_at = 0
        """How many steps had been taken when the sync failed."""
        self._fails_at = fails_at
        self.steps: list[Step] = []
        self._root = root
        self._forgets = forgets
        self._exchanges = exchanges
        self._handles: dict[int, tuple[int, str]] = {}

    def note(self, *step: object) -> None:
        self.steps.append(step)

    def note_save(self, path: Path) -> None:
        """Write down that a person saved a file, in a way that lasts."""
        self.note("save", self._name(path), path.read_bytes())

    def open(self, path: Path, *, create: bool = False, mode: int = 0o600) -> int:
        descriptor = super().open(path, create=create, mode=mode)
        self._handles[descriptor] = (len(self.steps), path.name)
        self.note("open", self._name(path), len(self.steps))
        return descriptor

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        written = super().write(descriptor, data)
        self.note("write", self._handles[descriptor][0], bytes(data[:written]))
        return written

    def truncate(self, descriptor: int, size: int) -> None:
        super().truncate(descriptor, size)
        self.note("truncate", self._handles[descriptor][0], size)

    def sync(self, descriptor: int) -> None:
        handle, name = self._handles[descriptor]
        if self._fails():
            self.note("failedSync", handle)
            raise OSError(errno.EIO, "sync failed")
        if name != self._forgets:
            self.note("sync", handle)

    def sync_folder(self, folder: Path) -> None:
        if self._fails():
            raise OSError(errno.EIO, "sync failed")
        if folder.name + "/" != self._forgets:
            self.note("syncFolder", self._name(folder))

    def rename(self, source: Path, target: Path) -> None:
        super().rename(source, target)
        self.note("rename", self._name(source), self._name(target))

    def exchange(self, first: Path, second: Path) -> bool:
        if not self._exchanges or not super().exchange(first, second):
            return False
        self.note("exchange", self._name(first), self._name(second))
        return True

    def remove(self, path: Path) -> None:
        if path.exists():
            super().remove(path)
            self.note("remove", self._name(path))

    def make_folder(self, path: Path) -> None:
        missing = [one for one in [path, *path.parents] if not one.exists()]
        super().make_folder(path)
        for one in reversed(missing):
            self.note("folder", self._name(one))

    def _fails(self) -> bool:
        self.syncs += 1
        if self.syncs == self._fails_at:
            self.failed_at = len(self.steps)
        return self.syncs == self._fails_at

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._root))
