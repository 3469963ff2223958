"""Trace one operation through the real code, and write its steps into its page in docs/walks.

    python tools/trace_walk.py search             print the steps
    python tools/trace_walk.py --write            bring all pages up to date
    python tools/trace_walk.py --count            count the modules that each walk enters

A step is the first public function of a module that the walk enters, with the first sentence of its
docstring. Modules of `memory` and `text` are left out: they are called from everywhere.
"""

import inspect
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import click
import msgspec

from qms.features.backups.backup_manifest import BackupKind
from qms.features.backups.queue import Requester
from qms.store.keeper import Keeper, KeeperOptions
from tests.support.house import Clock, House
from tests.support.waiting import BOUND_S

TOP = Path(__file__).resolve().parent.parent
PAGES = TOP / "docs" / "walks"
SKIPPED = ("memory", "text")
BEGIN, END = "<!-- steps: tools/trace_walk.py --write -->", "<!-- end of steps -->"

_ENVIRONMENT = os.environ | {"PYTHONPATH": str(TOP)}
_PACKAGE = str(TOP / "qms") + "/"
_FIRST_SENTENCE = re.compile(r"(.+?)(?:\.(?:\s|$)|$)", re.DOTALL)


class Step(msgspec.Struct, frozen=True):
    """The first function that a walk enters in a module."""

    module: str
    function: str
    sentence: str


class Tracer:
    """Notes the code objects of the package in the order in which threads enter them."""

    def __init__(self) -> None:
        self._seen: dict[CodeType, None] = {}
        self._lock = threading.Lock()
        self._is_watching = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Follow this thread and all that begin inside the block."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note what the followed threads enter inside the block."""
        self._is_watching = True
        try:
            yield
        finally:
            self._is_watching = False

    def _note(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if (
            self._is_watching
            and event == "call"
            and code not in self._seen
            and code.co_filename.startswith(_PACKAGE)
        ):
            with self._lock:
                self._seen[code] = None

    def modules(self) -> list[str]:
        """Return the modules that were entered, in order."""
        return list(dict.fromkeys(_module_of(code) for code in self._seen))

    def steps(self) -> list[Step]:
        """Return the first documented function of each module, in order."""
        found: dict[str, Step] = {}
        for code in self._seen:
            module = _module_of(code)
            if module.split(".")[0] in SKIPPED or module in found:
                continue
            sentence = _sentence_of(module, code.co_qualname)
            if sentence is not None:
                found[module] = Step(module, code.co_qualname, sentence)
        return list(found.values())


def _module_of(code: CodeType) -> str:
    return code.co_filename.removeprefix(_PACKAGE).removesuffix(".py").replace("/", ".")


def _sentence_of(module: str, qualname: str) -> str | None:
    """Return the first sentence of a public function's docstring."""
    parts = qualname.split(".")
    if any(part.startswith(("_", "<")) for part in parts):
        return None
    found: Any = import_module(f"qms.{module}")
    for part in parts:
        found = inspect.getattr_static(found, part, None)
    found = found.fget if isinstance(found, property) else found
    documentation = inspect.getdoc(getattr(found, "__func__", found)) if found else None
    first = _FIRST_SENTENCE.match(documentation or "")
    return " ".join(first[1].split()) if first else None


def _house(folder: Path) -> House:
    house = House(folder, Clock())
    door = house.door("admin")
    for number in range(20):
        door("upsertEntry", entry={"kind": "note", "id": f"n{number}", "body": f"note {number}"})
    door("searchEntries", query={"text": "note"})
    return house


def trace_search(tracer: Tracer, folder: Path) -> None:
    """Search over HTTP in a store whose indexes are built."""
    house = _house(folder)
    with tracer.watching():
        house.door("reader")("searchEntries", query={"text": "note 7"})
    house.close()


def trace_upsert(tracer: Tracer, folder: Path) -> None:
    """Store an entry over HTTP."""
    house = _house(folder)
    entry = {"kind": "fact", "title": "Port", "body": "Staging listens on 5433"}
    with tracer.watching():
        house.door("writer")("upsertEntry", entry=entry)
    house.close()


def trace_hand_edit(tracer: Tracer, folder: Path) -> None:
    """Append a line to `entries.jsonl` as an editor does, and wait until the keeper merged it."""
    house = _house(folder)
    store = house.store()
    store.fold()
    path = house.root / "MemoryStores" / "projA" / "entries.jsonl"
    taken = threading.Event()
    store.subscribe(lambda _sequence, _changes: taken.set())
    with tracer.watching():
        keeper = Keeper(store, KeeperOptions(debounce_s=0.01))
        keeper.start()
        with path.open("ab") as stream:
            stream.write(b'{"kind":"note","id":"hand","body":{"text":"by hand"}}\n')
        keeper.file_changed(path)
        assert taken.wait(BOUND_S), "the hand edit was not taken in time"
        keeper.stop()
    house.close()


def trace_backup(tracer: Tracer, folder: Path) -> None:
    """Make a full backup of a project."""
    house = _house(folder)
    with tracer.watching():
        house.queue.order("projA", BackupKind.FULL, Requester("admin"))
        house.queue.work()
    house.close()


WALKS: dict[str, Callable[[Tracer, Path], None]] = {
    "search": trace_search,
    "upsert": trace_upsert,
    "hand-edit": trace_hand_edit,
    "backup": trace_backup,
}


def traced(walk: str) -> Tracer:
    """Return the trace of one walk, run in a temporary folder."""
    tracer = Tracer()
    with tracer.installed(), tempfile.TemporaryDirectory(prefix="qms-walk-") as folder:
        WALKS[walk](tracer, Path(folder))
    return tracer


def filled(page: str, steps: list[Step]) -> str:
    """Return a page with these steps between its markers."""
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    rows = [f"| `{one.module}` | `{one.function}` | {one.sentence} |" for one in steps]
    head = ["| module | enters at | which is to |", "| --- | --- | --- |"]
    return before + "\n".join((BEGIN, *head, *rows, END)) + after


def fresh_steps(walk: str) -> list[Step]:
    """Return the steps of a walk, traced in a separate process with empty caches."""
    command = [sys.executable, str(Path(__file__)), walk, "--json"]
    found = subprocess.run(command, cwd=TOP, capture_output=True, check=True, env=_ENVIRONMENT)
    return msgspec.json.decode(found.stdout.splitlines()[-1], type=list[Step])


@click.command(help=__doc__)
@click.argument("walks", nargs=-1, type=click.Choice(list(WALKS)))
@click.option("--write", is_flag=True, help="Bring the pages up to date.")
@click.option("--count", is_flag=True, help="Print how many modules each walk enters.")
@click.option("--json", "as_json", is_flag=True, help="Print the steps as JSON.")
def main(walks: tuple[str, ...], write: bool, count: bool, as_json: bool) -> None:
    """Trace the walks and print or write what they enter."""
    for walk in walks or WALKS:
        if write:
            path = PAGES / f"{walk}.md"
            path.write_text(filled(path.read_text("utf-8"), fresh_steps(walk)), "utf-8")
        elif count:
            print(f"{walk}: {len(traced(walk).modules())} modules")
        elif as_json:
            print(msgspec.json.encode(traced(walk).steps()).decode())
        else:
            print(f"\n{walk}")
            for step in traced(walk).steps():
                print(f"  {step.module}: {step.function}: {step.sentence}")


if __name__ == "__main__":
    main()
