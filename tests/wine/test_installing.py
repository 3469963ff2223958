"""The setup program from the first installation to the last file.

Everything is as shipped but for numpy and one library: `tests/wine/payloads.py` says why.
"""

import json

from tests.support.waiting import eventually
from tests.wine.client import LinuxClient
from tests.wine.installed import Installed
from tests.wine.machine import WINE_BOUND_S, WindowsMachine
from tests.wine.payloads import BROKEN, FIRST, SECOND, Workshop

DIFFERENCES = ("changed", "missing", "extra")


def test_an_installation_lives_from_setup_to_uninstall(
    machine: WindowsMachine, workshop: Workshop, free_port: int
) -> None:
    installed = Installed(machine, "Quick Memory")
    installed.set_up(workshop.first, free_port)
    assert installed.state() == "RUNNING"
    client = LinuxClient(free_port, installed.key)

    _serves_a_client_on_linux(client)
    _takes_over_an_edit_by_hand(installed, client)
    _stops_and_starts(installed, client)
    _runs_when_it_was_registered_by_hand(installed, client)
    assert _differences(installed) == {}

    installed.set_up(workshop.second(), free_port)
    assert client.call("health")["version"] == SECOND
    assert "Edited by hand" in client.titles("hand")
    assert f"root: {installed.place}" in installed.service("status").output, "registered anew"

    _goes_back_from_a_broken_version(installed, workshop, client)

    before = installed.entries.read_bytes()
    installed.uninstall()
    assert installed.state() == "none"
    assert client.status() == ""
    assert not (installed.folder / "python").exists()
    assert installed.entries.read_bytes() == before
    assert (installed.data / "QuickMemoryServer.toml").exists()


def _serves_a_client_on_linux(client: LinuxClient) -> None:
    """Write and find by words and by meaning: tantivy, faiss and onnxruntime for Windows."""
    facts = {
        "Staging database": "PostgreSQL 16 listens on port 5433",
        "Release train": "It leaves every Thursday at noon",
    }
    for title, statement in facts.items():
        client.call("upsertEntry", entry={"kind": "fact", "title": title, "body": statement})
    health = client.call("health")
    assert health["version"] == FIRST
    assert health["embedder"]["kind"] == "onnx"
    eventually(
        lambda: not any(s["embeddingBacklog"] for s in client.call("health")["stores"]),
        bound_s=WINE_BOUND_S,
    )
    query = {"text": "when do we ship new versions?", "explain": True}
    found = client.call("searchEntries", query=query)
    assert found["mode"] == "hybrid"
    assert found["results"][0]["entry"]["title"] == "Release train"
    assert found["results"][0]["scores"]["vector"] > 0
    assert client.titles("5433")[0] == "Staging database"


def _takes_over_an_edit_by_hand(installed: Installed, client: LinuxClient) -> None:
    """Add a line as an editor of Windows would, with its line ends."""
    eventually(lambda: b"Release train" in installed.entries.read_bytes(), bound_s=WINE_BOUND_S)
    line = {"kind": "note", "title": "Edited by hand", "body": {"text": "Kept in plain text"}}
    with installed.entries.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\r\n")
    eventually(lambda: "Edited by hand" in client.titles("hand"), bound_s=WINE_BOUND_S)


def _stops_and_starts(installed: Installed, client: LinuxClient) -> None:
    ended = installed.service("stop")
    assert ended.code == 0, ended
    assert installed.state() == "STOPPED"
    assert client.status() == ""
    journal = installed.entries.parent / ".qms" / "journal.wal"
    assert not journal.exists() or journal.stat().st_size < 1024, "everything is folded"

    ended = installed.service("start")
    assert ended.code == 0, ended
    assert client.status() == "Healthy"
    assert {"Staging database", "Edited by hand"} <= set(client.titles("database hand"))


def _runs_when_it_was_registered_by_hand(installed: Installed, client: LinuxClient) -> None:
    """The command line of the service has no root then: the program knows where its data is."""
    assert installed.service("uninstall").code == 0
    registered = installed.register_by_hand()
    assert registered.code == 0, registered
    eventually(lambda: installed.state() == "RUNNING", bound_s=WINE_BOUND_S)
    assert client.status() == "Healthy"
    assert "Edited by hand" in client.titles("hand")


def _goes_back_from_a_broken_version(
    installed: Installed, workshop: Workshop, client: LinuxClient
) -> None:
    """A version that damages the data and does not serve leaves everything as it was."""
    before = client.call("listEntries")["items"]
    installed.set_up(workshop.broken(), client.port, code=8)
    assert installed.state() == "RUNNING"
    assert client.call("health")["version"] == SECOND
    assert client.call("listEntries")["items"] == before
    assert _differences(installed) == {}
    (copy,) = (installed.data / "Backups").glob("upgrade-*/failed")
    ruined = copy / "stores" / "default" / "entries.jsonl"
    assert ruined.read_text(encoding="utf-8") == "ruined by a broken version"
    assert BROKEN not in (installed.folder / "layout.json").read_text(encoding="utf-8")


def _differences(installed: Installed) -> dict[str, list[str]]:
    found = installed.verify()
    return {name: found[name] for name in DIFFERENCES if found[name]}


def test_data_elsewhere_is_repaired_around_and_purged_when_asked(
    machine: WindowsMachine, workshop: Workshop, free_port: int
) -> None:
    installed = Installed(machine, "Repaired", data="data of it")
    installed.set_up(workshop.first, free_port)
    assert not (installed.folder / "MemoryStores").exists()
    (installed.folder / "docs" / "README.md").write_text("tampered", encoding="utf-8")
    (installed.folder / "python" / "evil.py").touch()
    assert _differences(installed) == {
        "changed": ["docs/README.md"],
        "extra": ["python/evil.py"],
    }

    client = LinuxClient(free_port, installed.key)
    client.call("upsertEntry", entry={"kind": "note", "title": "Kept", "body": "Through repair"})
    installed.set_up(workshop.first, free_port)
    assert _differences(installed) == {}
    assert client.titles("repair") == ["Kept"]

    installed.uninstall("/PURGE")
    assert not installed.folder.exists()
    assert list(installed.data.iterdir()) == []
