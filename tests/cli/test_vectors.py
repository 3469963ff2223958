"""`memoryctl import` and `status` while vectors are missing."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from qms.cli.vectors import missing_line
from qms.index.store_indexes import StoreIndexes
from qms.memory.ports import Embedder
from tests.cli.conftest import Terminal
from tests.support.waiting import eventually


@pytest.fixture
def export(tmp_path: Path) -> str:
    path = tmp_path / "entries.jsonl"
    entries = [{"id": f"n{n}", "kind": "note", "body": f"lantern {n}"} for n in range(3)]
    path.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    return str(path)


@pytest.fixture
def slow(files: Terminal, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A server that embeds nothing before the test is over."""
    gate, embed = threading.Event(), StoreIndexes.embed

    def wait_and_embed(self: StoreIndexes, embedder: Embedder, most: int) -> int:
        if self.backlog:
            gate.wait()
        return embed(self, embedder, most)

    monkeypatch.setattr(StoreIndexes, "embed", wait_and_embed)
    files.start()
    eventually(lambda: store_of(files)["vectors"] is not None)
    yield files
    gate.set()


def store_of(ctl: Terminal) -> Any:
    stores = ctl.ok("status", "--json").json["stores"]
    return next(one for one in stores if one["name"] == "default")


def test_an_import_on_a_server_says_how_many_vectors_are_there(slow: Terminal, export: str) -> None:
    said = slow.ok("import", export).err

    assert said.endswith("0 of 3 entries have vectors; the rest follows\n")


def test_an_import_prints_the_vectors_as_json(slow: Terminal, export: str) -> None:
    found = slow.ok("import", export, "--json").json

    assert found["vectors"] == {"done": 0, "total": 3, "secondsLeft": None}


def test_the_status_has_a_line_for_a_project_without_all_vectors(
    slow: Terminal, export: str
) -> None:
    before = slow.ok("status").out
    slow.ok("import", export)

    assert "vectors" not in before
    assert "default: 0 of 3 entries have vectors; the rest follows\n" in slow.ok("status").out


def test_an_import_into_files_leaves_the_vectors_to_the_server(
    files: Terminal, export: str
) -> None:
    tried = files.ok("import", export, "--dry-run").err
    said = files.ok("import", export).err
    again = files.ok("import", export).err

    line = "0 of 3 stored entries have vectors yet; the server embeds them after its next start\n"
    assert said.endswith(line)
    assert "vectors" not in tried + again
    files.start()
    eventually(lambda: (store_of(files)["vectors"] or {}).get("done") == 3)


@pytest.mark.parametrize(
    ("seconds", "when"),
    [
        (None, "follows"),
        (1, "follows in about 1 s"),
        (90, "follows in about 90 s"),
        (600, "follows in about 10 min"),
        (9000, "follows in about 2 h"),
    ],
)
def test_the_time_is_told_in_a_unit_that_fits(seconds: int | None, when: str) -> None:
    line = missing_line({"done": 1200, "total": 4000, "secondsLeft": seconds})

    assert line == f"1,200 of 4,000 entries have vectors; the rest {when}"
