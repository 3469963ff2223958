"""Two clients that write to one project at once: the pain that this server exists for."""

import threading
from pathlib import Path

from tests.support.projects import ids_in
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

EACH = 60


def write_at_once(server: ServerProcess) -> set[str]:
    """Have two clients write `EACH` entries; return the ids that they were answered."""
    answered: list[str] = []
    together = threading.Barrier(2)

    def write(name: str) -> None:
        with server.client() as client:
            together.wait()
            for number in range(EACH):
                entry = {"kind": "fact", "body": f"{name} says {number}"}
                answered.append(client("upsertEntry", entry=entry)["id"])

    clients = [threading.Thread(target=write, args=(name,)) for name in ("One", "Another")]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return set(answered)


def ids_behind(server: ServerProcess) -> set[str]:
    page = {"size": 200}
    items = server.call("projA", "listEntries", page=page, include="ids")["items"]
    return {item["id"] for item in items}


def test_two_clients_writing_at_once_lose_nothing(tmp_path: Path) -> None:
    file = store_folder(configured(tmp_path)) / "entries.jsonl"

    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        answered = write_at_once(server)

        assert len(answered) == 2 * EACH
        assert ids_behind(server) == answered
        eventually(lambda: server.store()["pendingJournal"] == 0)
        assert sorted(ids_in(file)) == sorted(answered)

    with ServerProcess(tmp_path, key=ADMIN_KEY) as again:
        assert ids_behind(again) == answered
