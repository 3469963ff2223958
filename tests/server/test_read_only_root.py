"""A root on a disk that takes no writes is served for reading."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.mounts import read_only
from tests.support.server import ADMIN_KEY, ServerProcess, configured, refused_server, store_folder

READS: dict[str, dict[str, Any]] = {
    "getEntry": {"id": "a"},
    "listEntries": {},
    "searchEntries": {"query": {"text": "hello"}},
    "recall": {"context": "hello"},
    "listArchive": {},
    "history": {"id": "a"},
    "verifyStore": {},
}


def written_root(root: Path) -> Path:
    with ServerProcess(configured(root), key=ADMIN_KEY) as server:
        server.call("projA", "upsertEntry", entry={"kind": "note", "id": "a", "body": "hello"})
        assert server.stop() == 0
    return root


def check_reads(server: ServerProcess) -> None:
    for command, request in READS.items():
        assert server.call("projA", command, **request), command
    with server.client() as client:
        refused = client.fails("upsertEntry", entry={"kind": "note", "body": "more"})
    assert (refused.status, refused.code) == (507, "storageFull")
    health = server.call("projA", "health")
    assert health["status"] == "Degraded"
    assert {"readOnly"} <= {problem["code"] for problem in health["problems"]}


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_a_root_on_a_read_only_disk_starts_reads_and_stops(tmp_path: Path) -> None:
    root = written_root(tmp_path / "root")
    with read_only(root), ServerProcess(root, key=ADMIN_KEY) as server:
        check_reads(server)
        assert server.stop() == 0


@pytest.mark.fault("F16")
@pytest.mark.needs("mount")
def test_a_root_that_was_never_served_is_read_from_a_read_only_disk(tmp_path: Path) -> None:
    root = written_root(tmp_path / "root")
    for gone in (root / ".qms", root / "logs", store_folder(root) / ".qms"):
        shutil.rmtree(gone)
    with read_only(root), ServerProcess(root, key=ADMIN_KEY) as server:
        check_reads(server)
        second = refused_server(root)
        assert second.returncode == 5, second.stderr
        assert server.stop() == 0
    assert not (root / ".qms").exists()
