"""A root that an earlier version wrote: everything in it is read, and writes go on."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.house.pages import ROOT
from tools.earlier_root import IDS, PROJECT, SAID, said_of, serving

PACKED = ROOT / "tests" / "data" / "earlier_root" / "root.zip"
API = f"/api/v1/{PROJECT}/"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    with zipfile.ZipFile(PACKED) as packed:
        packed.extractall(tmp_path)
    return tmp_path


def said_before(root: Path) -> dict[str, Any]:
    """Return what the earlier server said of the root."""
    said: dict[str, Any] = json.loads((root / SAID).read_text(encoding="utf-8"))
    return said


def test_a_root_of_an_earlier_version_is_read_as_it_was_written(root: Path) -> None:
    lines = (root / "MemoryStores" / PROJECT / "entries.jsonl").read_bytes()

    with serving(ROOT, root) as call:
        said = said_of(call)

    assert said == said_before(root)
    assert (root / "MemoryStores" / PROJECT / "entries.jsonl").read_bytes() == lines


def test_writes_go_on_in_a_root_of_an_earlier_version(root: Path) -> None:
    full, differential = (one[0] for one in said_before(root)["backups"])
    with serving(ROOT, root) as call:
        call(API + "upsertEntry", entry={"id": IDS[1], "kind": "note", "body": "opens at noon"})
        call(API + "restoreEntry", id=IDS[3])
        versions = call(API + "history", id=IDS[1])["items"]
        made = call(f"/admin/backups/{PROJECT}/restore", id=differential)

    assert len(versions) == 2
    assert made["changed"] == 1
    with serving(ROOT, root) as call:
        said = said_of(call)
    before = {one: entry for one, entry in said_before(root)["entries"].items() if one != IDS[5]}
    assert said["entries"] == before  # the hand edit is newer than the backup
    assert [one[0] for one in said["backups"]][:2] == [full, differential]
