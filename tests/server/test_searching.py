"""Search through a real server with the real model: meaning, restarts, deleted and bad files."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from qms.resources import find_resource
from tests.support.house import CONFIGURATION
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

MODEL = CONFIGURATION.replace('model = "hash"', 'model = "models/embeddings.onnx"\nthreads = 1')
TEXTS = {
    "cat": "The cat sleeps on the sofa all day long",
    "db": "PostgreSQL 16 listens on port 5433 in staging",
    "release": "Tag the commit, push the image, then announce the release",
}


def fill(server: ServerProcess) -> None:
    for local, text in TEXTS.items():
        server.call("projA", "upsertEntry", entry={"id": local, "kind": "note", "body": text})
    settled(server)


def settled(server: ServerProcess) -> None:
    eventually(lambda: server.call("projA", "health")["embedder"] is not None)
    search(server, "anything")
    eventually(lambda: server.store()["embeddingBacklog"] == 0)


def search(server: ServerProcess, text: str) -> Any:
    return server.call("projA", "searchEntries", query={"text": text})


def first(server: ServerProcess, text: str) -> str:
    return str(search(server, text)["results"][0]["entry"]["id"])


def test_a_question_finds_the_entry_that_shares_its_meaning_and_no_word(tmp_path: Path) -> None:
    with ServerProcess(configured(tmp_path, MODEL), key=ADMIN_KEY) as server:
        fill(server)

        assert search(server, "where does our pet rest?")["mode"] == "hybrid"
        assert first(server, "where does our pet rest?") == "projA:cat"
        assert server.call("projA", "health")["embedder"]["kind"] == "onnx"
        recalled = server.call("projA", "recall", context="where does our pet rest?")
        assert len(recalled["memories"]) == 3
        assert server.stop() == 0

    usage = json.loads((store_folder(tmp_path) / ".qms" / "usage.json").read_bytes())
    assert list(usage["entries"]) == ["projA:cat"]


def test_a_restart_opens_the_indexes_instead_of_making_them_again(tmp_path: Path) -> None:
    with ServerProcess(configured(tmp_path, MODEL), key=ADMIN_KEY) as server:
        fill(server)
        server.stop()
    keyword = store_folder(tmp_path) / "indexes" / "tantivy"
    before = {path.name: path.read_bytes() for path in keyword.iterdir()}

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        settled(server)

        assert first(server, "where does our pet rest?") == "projA:cat"
        assert "rebuilding vectors" not in server.errors.partition("shared")[0]
        server.stop()
    assert {path.name: path.read_bytes() for path in keyword.iterdir()} == before


@pytest.mark.fault("F17")
@pytest.mark.parametrize("gone", ["", "tantivy", "vectors.dat", "manifest.json"])
def test_indexes_that_were_deleted_are_made_again(tmp_path: Path, gone: str) -> None:
    with ServerProcess(configured(tmp_path, MODEL), key=ADMIN_KEY) as server:
        fill(server)
        server.stop()
    place = store_folder(tmp_path) / "indexes" / gone
    shutil.rmtree(place) if place.is_dir() else place.unlink()

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        settled(server)

        assert first(server, "postgres port") == "projA:db"
        assert first(server, "where does our pet rest?") == "projA:cat"


def test_a_hand_edit_is_found_like_any_other_entry(tmp_path: Path) -> None:
    with ServerProcess(configured(tmp_path, MODEL), key=ADMIN_KEY) as server:
        fill(server)
        eventually(lambda: server.store()["pendingJournal"] == 0)
        file = store_folder(tmp_path) / "entries.jsonl"
        file.write_text(
            file.read_text(encoding="utf-8").replace("The cat", "The hippopotamus"),
            encoding="utf-8",
        )

        eventually(lambda: first(server, "hippopotamus") == "projA:cat")


@pytest.mark.attack(72)
def test_a_tampered_model_is_refused_and_health_says_so(tmp_path: Path) -> None:
    shutil.copytree(find_resource("models"), tmp_path / "models")
    model = tmp_path / "models" / "embeddings.onnx"
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    model.write_bytes(data)

    with ServerProcess(configured(tmp_path, MODEL), key=ADMIN_KEY) as server:
        fill(server)
        report = server.call("projA", "health")

        assert report["status"] == "Degraded"
        assert report["embedder"]["kind"] == "hash"
        assert [problem["code"] for problem in report["problems"]] == ["embedder"]
        assert search(server, "postgres port")["mode"] == "keyword+hash"
