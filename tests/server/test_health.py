"""What a running server reports of itself moves when something happens to its files.

What needs a slow, a full or a broken disk is in the files beside this one: `loaded` in
test_loading, `readOnly` and `readOnlyReason` in test_full_disk, `Unhealthy` stores in
test_broken_stores.
"""

from pathlib import Path
from typing import Any

from qms.version import __version__
from tests.support.server import ADMIN_KEY, ServerProcess, configured, store_folder
from tests.support.waiting import eventually

BAD_LINE = "somebody's shopping list\n"


def status_of(server: ServerProcess) -> str:
    return str(server.call("projA", "health")["status"])


def test_counts_and_times_follow_a_write_and_its_fold(tmp_path: Path) -> None:
    file = store_folder(configured(tmp_path)) / "entries.jsonl"
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        assert server.call("projA", "health")["version"] == __version__
        before = server.store()
        assert (before["entries"], before["bytes"], before["sequence"]) == (0, 0, 0)
        assert (before["lastWriteUtc"], before["lastFoldUtc"]) == (None, None)

        server.call("projA", "upsertEntry", entry={"id": "a", "kind": "note", "body": "x"})
        after = server.store()
        assert (after["entries"], after["sequence"]) == (1, 1)
        assert after["lastWriteUtc"] is not None

        eventually(lambda: server.store()["pendingJournal"] == 0)
        folded = server.store()
        assert folded["bytes"] == file.stat().st_size
        assert folded["lastFoldUtc"] >= after["lastWriteUtc"]
        other = server.store("projB")
        assert (other["entries"], other["lastWriteUtc"], other["lastFoldUtc"]) == (0, None, None)


def test_a_bad_line_is_counted_and_named_until_it_is_gone(tmp_path: Path) -> None:
    file = store_folder(configured(tmp_path)) / "entries.jsonl"
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        server.call("projA", "upsertEntry", entry={"id": "a", "kind": "note", "body": "x"})
        eventually(lambda: server.store()["pendingJournal"] == 0)
        whole = file.read_text(encoding="utf-8")

        file.write_text(whole + BAD_LINE, encoding="utf-8")

        eventually(lambda: server.store()["problems"] == 1)
        report = server.call("projA", "health")
        (problem,) = report["problems"]
        assert report["status"] == "Degraded"
        assert set(problem) == {"code", "project", "file", "line", "reason"}
        assert (problem["project"], problem["file"], problem["line"]) == (
            "projA",
            "entries.jsonl",
            2,
        )

        file.write_text(whole, encoding="utf-8")
        eventually(lambda: server.store()["problems"] == 0)
        assert status_of(server) == "Healthy"


def test_an_emptied_file_is_held_and_what_was_written_meanwhile_becomes_a_conflict(
    tmp_path: Path,
) -> None:
    file = store_folder(configured(tmp_path)) / "entries.jsonl"
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        server.call("projA", "upsertEntry", entry={"id": "a", "kind": "note", "body": "Base"})
        eventually(lambda: server.store()["pendingJournal"] == 0)
        whole = file.read_text(encoding="utf-8")

        file.write_bytes(b"")
        eventually(lambda: server.store()["held"])
        assert [one["code"] for one in server.call("projA", "health")["problems"]] == ["held"]
        server.call("projA", "patchEntry", id="a", patch={"body": {"text": "Ours"}})
        held = server.store()
        assert (held["entries"], held["pendingJournal"]) == (1, 1)
        assert (held["conflicts"], status_of(server)) == (0, "Degraded")

        file.write_text(whole.replace("Base", "Theirs"), encoding="utf-8")
        eventually(lambda: not server.store()["held"])
        eventually(lambda: server.store()["pendingJournal"] == 0)
        assert (server.store()["conflicts"], status_of(server)) == (1, "Degraded")
        assert text_of(server) == "Theirs"


def test_a_server_without_a_usable_store_is_unhealthy_and_answers_503(tmp_path: Path) -> None:
    configured(tmp_path)
    for project in ("shared", "projA", "projB", "closed"):
        (store_folder(tmp_path, project) / "entries.jsonl").mkdir(parents=True)
    with ServerProcess(tmp_path, key=ADMIN_KEY) as server:
        eventually(lambda: server.status() == (503, {"status": "Unhealthy"}))


def text_of(server: ServerProcess) -> Any:
    return server.call("projA", "getEntry", id="a")["entry"]["body"]["text"]
