"""Chunks in a store: they come, go and are guarded with their document, also after a crash."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin, StoreOptions

folder, stop_at = Path(sys.argv[1]), int(sys.argv[2])
now = datetime(2026, 3, 1, tzinfo=UTC)


class DyingDisk(Disk):
    # A disk whose process dies in the middle of the bytes that it writes.

    room = None

    def write(self, descriptor, data):
        if self.room is not None and len(data) > self.room:
            super().write(descriptor, bytes(data)[: self.room])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(descriptor, data)


disk = DyingDisk()
store = MemoryStore.open(
    folder, "p", disk=disk, options=StoreOptions(), backup_root=folder / "b", clock=lambda: now
)
times = {"createdUtc": "2026-03-01T00:00:00Z", "updatedUtc": "2026-03-01T00:00:00Z"}
def entry(name, kind, body, **more):
    return {"schemaVersion": 1, "id": f"p:{name}", "kind": kind, "title": name, "body": body,
            "timestamps": times, **more}
def plan(draft):
    draft.put(entry("d", "document", {"text": "d"}, metadata={"chunkCount": 50}))
    for number in range(50):
        draft.put(entry(f"d.{number}", "chunk", {"text": "x" * 500, "ordinal": number},
                        relations=[{"type": "partOf", "targetId": "p:d"}]))
disk.room = stop_at
store.commit(Origin(command="storeDocument", user="u", at_utc=now, right=AccessTier.ADMIN), plan)
print("stored", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def count_after_kill(folder: Path, stop_at: int) -> tuple[bool, int]:
    """Store a document of 50 chunks in a process that dies; return what a later one finds."""
    died = subprocess.run(
        [sys.executable, "-c", CHILD, str(folder), str(stop_at)],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    code = CHILD.partition("times =")[0] + "print(len(store.view))"
    found = subprocess.run(
        [sys.executable, "-c", code, str(folder), "0"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return "stored" in died.stdout, int(found.stdout)


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("stop_at", [0, 1, 100, 5_000, 20_000, 10**9])
def test_a_kill_while_a_document_is_stored_leaves_all_of_it_or_nothing(
    tmp_path: Path, stop_at: int
) -> None:
    is_acknowledged, count = count_after_kill(tmp_path, stop_at)

    assert (is_acknowledged, count) == ((True, 51) if stop_at > 10**6 else (False, 0))
