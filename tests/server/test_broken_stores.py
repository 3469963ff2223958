"""Damaged stores among healthy ones: each fails alone."""

from pathlib import Path

import pytest

from tests.support.projects import open_store, remember
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.stores import abandon
from tests.support.waiting import eventually

HEALTHY = [f"good{number}" for number in range(17)]
TEXT = "".join(
    f'[endpoint.{slug}]\nslug = "{slug}"\n' for slug in ["shared", "torn", "folder", *HEALTHY]
) + (f'[users.admin]\ntier = "admin"\napiKey = "{ADMIN_KEY}"\n')


def damage_journal(root: Path) -> None:
    """Leave three writes in a journal, with one byte of the second changed."""
    folder = store_folder(root, "torn")
    store = open_store(folder, "torn")
    for local in ("first", "second", "third"):
        remember(store, local)
    abandon(store)
    journal = folder / ".qms" / "journal.wal"
    data = journal.read_bytes()
    assert data.count(b'"title":"second"') == 1
    journal.write_bytes(data.replace(b'"title":"second"', b'"title":"sEcond"'))


@pytest.mark.fault("F25")
def test_two_damaged_stores_of_twenty_are_named_and_eighteen_serve(tmp_path: Path) -> None:
    configured(tmp_path, TEXT)
    damage_journal(tmp_path)
    (store_folder(tmp_path, "folder") / "entries.jsonl").mkdir(parents=True)

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        eventually(lambda: server.status() == (200, {"status": "Degraded"}))

        report = server.call("shared", "health")
        assert {(one["code"], one["project"]) for one in report["problems"]} == {
            ("journalDamaged", "torn"),
            ("storeUnavailable", "folder"),
        }
        assert str(tmp_path) not in str(report)
        stores = {store["name"]: store for store in report["stores"]}
        assert [name for name, store in stores.items() if not store["loaded"]] == ["folder"]
        assert [name for name, store in stores.items() if store["problems"]] == ["torn"]
        for project in ["shared", "torn", *HEALTHY]:
            entry = {"id": "new", "kind": "note", "body": "written"}
            assert server.call(project, "upsertEntry", entry=entry)["created"]
        with server.client("folder") as client:
            refusal = client.fails("upsertEntry", entry={"kind": "note", "body": "refused"})
        assert (refusal.status, refusal.code) == (503, "unavailable")
        assert refusal.details["project"] == "folder"
        titles = server.call("torn", "listEntries", sort="title")["items"]
        assert [item["id"] for item in titles] == ["torn:first", "torn:third", "torn:new"]
        assert server.stop() == 0
    kept = store_folder(tmp_path, "torn") / ".qms" / "journal.wal.damaged-1"
    assert b'"title":"sEcond"' in kept.read_bytes()


@pytest.mark.fault("F25")
def test_a_store_that_is_repaired_serves_without_a_restart(tmp_path: Path) -> None:
    configured(tmp_path, TEXT)
    broken = store_folder(tmp_path, "folder") / "entries.jsonl"
    broken.mkdir(parents=True)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        eventually(lambda: server.status() == (200, {"status": "Degraded"}))

        broken.rmdir()
        with server.client("folder") as client:
            client.care("reloadStore")

        assert server.call("folder", "listEntries")["items"] == []
        assert server.status() == (200, {"status": "Healthy"})
