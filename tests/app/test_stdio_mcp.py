"""`qms mcp`: one project over standard input and output, by its own process or by the owner's."""

import signal
from pathlib import Path

import pytest

from qms.auth.local_key import LOCAL_KEY_PLACE, read_local_key
from qms.config.root import LOCK_PLACE
from qms.disk.root_lock import read_owner
from tests.support.house import key_of
from tests.support.mcp import MODERN, SESSION_REVISIONS
from tests.support.running import RunningServer
from tests.support.server import ADMIN_KEY, configured, refused_server, store_folder
from tests.support.stdio import StdioClient, on_root

NOTE = {"kind": "note", "body": "Hi"}
HASHED = '[global.embedding]\nmodel = "hash"\n[endpoint.default]\nslug = "default"\n'


def titled(client: StdioClient) -> set[str]:
    return {item["title"] for item in client.call("listEntries")["items"]}


def owner_of(root: Path) -> int | None:
    owner = read_owner(root / LOCK_PLACE)
    return None if owner is None else owner.pid


def test_a_new_root_is_served_and_folded_when_the_client_ends(tmp_path: Path) -> None:
    root = configured(tmp_path / "root", HASHED)
    with on_root(root, revision=SESSION_REVISIONS[0]) as client:
        stored = client.call("upsertEntry", entry=NOTE)
        assert (root / LOCAL_KEY_PLACE).stat().st_mode & 0o777 == 0o600
        tools = client.tools()

        assert client.close_input() == 0

    folder = store_folder(root, "default")
    assert stored["id"] in (folder / "entries.jsonl").read_text(encoding="utf-8")
    assert (folder / ".qms" / "journal.wal").stat().st_size <= 8
    assert not (root / LOCAL_KEY_PLACE).exists()
    assert "upsertEntry" in tools
    assert "backupStore" not in tools, "whoever owns the machine lets agents write, no more"
    # The key of an admin would have ended up in the log of some client.
    assert b"qms_" not in client.errors
    assert "sha256" not in (root / "QuickMemoryServer.toml").read_text(encoding="utf-8")


@pytest.mark.fault("F15")
def test_a_second_one_attaches_to_the_first_and_takes_over_after_it(tmp_path: Path) -> None:
    root = configured(tmp_path / "root", HASHED)
    with on_root(root) as first:
        first.call("upsertEntry", entry={**NOTE, "title": "Of the first"})
        owner = owner_of(root)
        with on_root(root, revision=SESSION_REVISIONS[0]) as second:
            second.call("upsertEntry", entry={**NOTE, "title": "Of the second"})
            assert owner_of(root) == owner
            assert titled(first) == titled(second) == {"Of the first", "Of the second"}
            refused = refused_server(root)
            assert refused.returncode == 5
            assert f"process {owner}" in refused.stderr

            assert first.close_input() == 0
            second.call("upsertEntry", entry={**NOTE, "title": "After the first"})

            assert owner_of(root) not in (owner, None)
            assert titled(second) == {"Of the first", "Of the second", "After the first"}
            assert second.close_input() == 0


def test_the_environment_names_the_author_of_what_is_written(tmp_path: Path) -> None:
    root = configured(tmp_path / "root", HASHED)
    with on_root(root, agent_id="ai:night-shift") as client:
        stored = client.call("upsertEntry", entry=NOTE)

        assert client.call("getEntry", id=stored["id"])["entry"]["agentId"] == "ai:night-shift"


def test_it_attaches_to_the_server_that_owns_the_root(tmp_path: Path) -> None:
    server = RunningServer(configured(tmp_path), ADMIN_KEY)
    try:
        with on_root(tmp_path, project="projA") as client:
            stored = client.call("upsertEntry", entry=NOTE)

            assert server.call("projA", "getEntry", id=stored["id"])["entry"]["body"]
            pinned = client.call("upsertEntry", entry={**NOTE, "title": "Two", "pinned": True})
            assert pinned["error"]["code"] == "notAllowed"
            assert client.close_input() == 0
        with on_root(tmp_path, project="projA", key=key_of("admin")) as client:
            assert client.call("upsertEntry", entry={**NOTE, "title": "Three", "pinned": True})[
                "created"
            ]
    finally:
        server.stop()


@pytest.mark.parametrize("revision", [MODERN, SESSION_REVISIONS[0]])
def test_it_goes_on_by_itself_when_the_server_ends(tmp_path: Path, revision: str) -> None:
    server = RunningServer(configured(tmp_path), ADMIN_KEY)
    with on_root(tmp_path, project="projA", revision=revision) as client:
        stored = client.call("upsertEntry", entry=NOTE)
        server.stop()

        assert client.call("getEntry", id=stored["id"])["entry"]["id"] == stored["id"]
        client.signal(signal.SIGTERM)
        assert client.wait() == 0

    assert not (tmp_path / LOCAL_KEY_PLACE).exists()


def test_the_local_key_works_only_while_its_server_runs(tmp_path: Path) -> None:
    server = RunningServer(configured(tmp_path), ADMIN_KEY)
    key = read_local_key(tmp_path)
    assert key is not None
    server.stop()
    again = RunningServer(tmp_path, ADMIN_KEY)
    try:
        with on_root(tmp_path, project="projA", key=key) as client:
            error = client.ask("tools/list")["error"]

            assert error["data"]["code"] == "notAuthenticated"
            assert "QMS_KEY" in error["message"]
    finally:
        again.stop()


def test_without_the_key_of_the_owner_it_says_what_to_do(tmp_path: Path) -> None:
    server = RunningServer(configured(tmp_path), ADMIN_KEY)
    try:
        (tmp_path / LOCAL_KEY_PLACE).unlink()
        client = on_root(tmp_path, project="projA")

        assert client.wait() == 3
        assert b"hint: set QMS_KEY" in client.errors
    finally:
        server.stop()


def test_a_broken_configuration_stops_it_with_the_line(tmp_path: Path) -> None:
    client = on_root(configured(tmp_path, "[global]\nlisten = 5\n"))

    assert client.wait() == 2
    assert b"line 2" in client.errors
