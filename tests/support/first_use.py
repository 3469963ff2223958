"""Children forked from a process that has imported the package and used no type of it yet.

    python -m tests.support.first_use decode|start|import prepared|unprepared COUNT [ROOT]

Each child lets several threads use types, or import native libraries, first at once. The last line
of standard output is a JSON object: the number of children for each wait status. 0 is success, 11
is SIGSEGV.
"""

import json
import os
import resource
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from qms.app.build import open_root
from qms.disk.disk import Disk
from qms.memory import struct_types
from qms.memory.access import LOCAL_ADMIN
from qms.memory.struct_types import loaded_types, prepare_types
from qms.resources import find_resource

THREADS = 4
SMALLEST_SWITCH_S = 1e-6
CHILD_LIMIT_S = 120
FAILED = 9
IMPORTED = (
    "faiss",
    "qms.app.console",
    "qms.models.hash_embedder",
    "qms.search.pipeline",
    "qms.index.store_indexes",
    "tantivy",
)
"""What a server has imported once it has answered a search."""
LATE = (
    "qms.models.cross_encoder",
    "qms.models.hash_embedder",
    "qms.models.onnx_embedder",
    "qms.models.extractive_summarizer",
    "qms.index.vectors.codes",
    "qms.search.similarity",
    "qms.search.pipeline",
    "qms.index.sources",
    "qms.index.store_indexes",
    "psutil",
)
"""What threads of a server import by themselves, in whatever order requests arrive."""
MODELS = find_resource("models")
STORES = [f"store{number}" for number in range(10)]
READS: dict[str, dict[str, Any]] = {
    "listEntries": {},
    "searchEntries": {"query": {"text": "note"}},
    "listArchive": {},
    "health": {},
}


def run_children(count: int, work: Callable[[], None]) -> Counter[int]:
    """Return how `count` forked processes ended that each did some work, one after another."""
    ended: Counter[int] = Counter()
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            _be_child(work)
        ended[os.waitpid(pid, 0)[1]] += 1
    return ended


def _be_child(work: Callable[[], None]) -> None:
    code = FAILED
    try:
        signal.alarm(CHILD_LIMIT_S)
        sys.setswitchinterval(SMALLEST_SWITCH_S)
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def decode_at_once() -> None:
    """Convert something to every loaded type in several threads at once."""
    given = [(one, dict.fromkeys(one.__struct_encode_fields__)) for one in loaded_types()]
    gate = threading.Barrier(THREADS)

    def use() -> None:
        for one, fields in given:
            gate.wait()
            with suppress(NameError, TypeError, msgspec.ValidationError):
                msgspec.convert(fields, one)

    threads = [threading.Thread(target=use) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def import_at_once() -> None:
    """Import what is heavy and open native indexes and models in several threads at once."""
    gate = threading.Barrier(THREADS)

    def work(number: int) -> int:
        gate.wait()
        for name in LATE[number:] + LATE[:number]:
            import_module(name)
        import_module("qms.models.onnx_files").open_tokenizer(MODELS / "tokenizer.json")
        import_module("qms.models.onnx_files").open_session(MODELS / "embeddings.onnx", threads=1)
        import_module("qms.index.words.segments").Segments(None).searcher()
        import_module("qms.index.vectors.scan").ByteScan(8, 8)
        return number

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(work, range(THREADS))) == list(range(THREADS))


def make_root(root: Path) -> None:
    """Make a root with ten stores, each with entries, archive, journal history and indexes."""
    from tests.support.house import CONFIGURATION  # numpy, which `import_at_once` imports itself
    from tests.support.server import configured

    text = CONFIGURATION + "".join(f'[endpoint.{name}]\nslug = "{name}"\n' for name in STORES)
    opened = open_root(configured(root, text), disk=Disk(), clock=_now)
    try:
        services = opened.runtime.gate()
        for project in STORES:
            for number in range(20):
                entry = {"kind": "note", "id": f"e{number}", "body": f"note {number} of {project}"}
                services.call(LOCAL_ADMIN, project, "upsertEntry", {"entry": entry})
            services.call(LOCAL_ADMIN, project, "deleteEntry", {"id": f"{project}:e0"})
            services.call(LOCAL_ADMIN, project, "searchEntries", {"query": {"text": "note"}})
    finally:
        opened.close()


def start_root(root: Path) -> None:
    """Open a root as a server does, while several threads ask for every store, and close it."""
    opened = open_root(root, disk=Disk(), clock=_now)
    try:
        services = opened.runtime.gate()
        gate = threading.Barrier(THREADS)

        def ask(number: int) -> int:
            gate.wait()
            for project in STORES[number:] + STORES[:number]:
                for command, request in READS.items():
                    services.call(LOCAL_ADMIN, project, command, request)
            return number

        with ThreadPoolExecutor(THREADS) as pool:
            assert list(pool.map(ask, range(THREADS))) == list(range(THREADS))
        assert not opened.runtime.catalog.failures
    finally:
        opened.close()


def _now() -> datetime:
    return datetime.now(UTC)


def main(what: str, how: str, count: int, root: Path | None) -> None:
    """Run the children and print how they ended."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name in () if what == "import" else IMPORTED:
        import_module(name)
    if how == "unprepared":
        struct_types._prepare = lambda found: None
    prepare_types()
    works = {"decode": decode_at_once, "import": import_at_once}
    work = works[what] if root is None else lambda: start_root(root)
    print(json.dumps(run_children(count, work)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]) if sys.argv[4:] else None)
