"""Problems, conflicts, held deletions, audit, log and figures over `/admin`."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.telemetry.series import KEPT_MOMENTS, StoreFigures
from tests.conftest import EntryMaker
from tests.support.asgi import AsgiClient
from tests.support.console import Console
from tests.support.house import Door, House


@pytest.fixture
def admin(client: AsgiClient) -> Console:
    return Console(client)


def hold(house: House, writer: Door, entry: EntryMaker) -> None:
    """Bring about a deletion by hand that is held."""
    for _ in range(12):
        writer("upsertEntry", entry=entry())
    house.store().fold()
    house.entries_file().write_bytes(b"")
    house.store().reload()


def test_problems_come_with_the_text_of_the_bad_line(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry())
    house.store().fold()
    with house.entries_file().open("ab") as file:
        file.write(b'{"kind":"fact", <img onerror=x>\n')
    house.store().reload()

    (problem,) = admin("GET", "/problems")["items"]

    assert (problem["project"], problem["line"]) == ("projA", 2)
    assert problem["text"] == '{"kind":"fact", <img onerror=x>'
    assert admin("GET", "/problems?project=projA")["items"] == [problem]
    assert admin("GET", "/problems?project=projB")["items"] == []
    assert admin.fails("GET", "/problems?project=nowhere").status == 404


def test_without_a_project_problems_of_the_server_and_of_loaded_stores_are_listed(
    house: House, admin: Console
) -> None:
    house.entries_file().parent.mkdir(parents=True, exist_ok=True)
    house.entries_file().write_text('{"kind":"rumour"}\n', encoding="utf-8")
    house.toml.write_text("[global", encoding="utf-8")
    house.configuration.reload()
    assert house.catalog.loaded("projA") is None

    (own,) = admin("GET", "/stores/problems")["items"]
    assert (own["code"], own["project"]) == ("configuration", None)
    assert house.catalog.loaded("projA") is None

    (there,) = admin("POST", "/stores/projA/listProblems", {})["items"]
    assert (there["project"], there["line"]) == ("projA", 1)
    assert admin("GET", "/stores/problems")["items"] == [own, there]
    told = [{**one, "text": None} for one in admin("GET", "/problems")["items"]]
    assert told == [{**one, "text": None} for one in (own, there)]


def test_a_conflict_copy_stands_beside_what_lives(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    made = as_writer("upsertEntry", entry=entry(title="First"))
    house.store().fold()
    text = house.entries_file().read_text(encoding="utf-8")
    house.entries_file().write_text(text.replace("First", "By hand"), encoding="utf-8")
    as_writer("patchEntry", id=made["id"], patch={"title": "By an agent"})
    house.store().reload()

    (item,) = admin("GET", "/conflicts")["items"]
    assert admin("GET", "/stores/conflicts")["items"] == [item["conflict"]]

    assert item["project"] == "projA"
    assert item["conflict"]["entry"]["title"] == "By an agent"
    assert item["current"]["title"] == "By hand"


@pytest.mark.parametrize(("decision", "left"), [("accept", 0), ("reject", 12)])
def test_a_held_deletion_is_decided(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker, decision: str, left: int
) -> None:
    hold(house, as_writer, entry)
    assert [one["project"] for one in admin("GET", "/held")["items"]] == ["projA"]

    report = admin("POST", "/held/projA", {"decision": decision})

    assert not report["held"]
    assert admin("GET", "/held")["items"] == []
    assert len(house.store().view) == left
    event = admin("GET", "/audit?command=decideHeld")["items"][0]
    assert event["changes"][0]["op"] == decision


def test_a_decision_where_nothing_is_held_is_a_conflict(house: House, admin: Console) -> None:
    assert admin.fails("POST", "/held/projA", {"decision": "accept"}).status == 409
    assert admin.fails("POST", "/held/projA", {"decision": "maybe"}).status == 400


def test_the_audit_log_is_read_from_its_end_in_pages(
    admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    for _ in range(5):
        as_writer("upsertEntry", entry=entry())

    first = admin("GET", "/audit?size=3")
    second = admin("GET", f"/audit?size=3&before={first['nextBefore']}")

    assert [one["seq"] for one in first["items"]] == [5, 4, 3]
    assert [one["seq"] for one in second["items"]] == [2, 1]
    assert second["nextBefore"] is None


def test_a_number_in_a_query_is_no_remark(admin: Console) -> None:
    assert "warnings" not in admin("GET", "/audit?size=3")


def test_the_audit_log_is_filtered(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry())
    house.clock.move(hours=1)
    house.door("curator", "projB")("upsertEntry", entry=entry())
    admin("POST", "/users", {"user": "alice", "tier": "none"})

    def seqs(query: str) -> list[int]:
        return [one["seq"] for one in admin("GET", f"/audit?{query}")["items"]]

    assert seqs("user=writer") == [1]
    assert seqs("project=projB") == [2]
    assert seqs("command=createUser") == [3]
    assert seqs("sinceUtc=2026-03-01T13:00:00Z") == [3, 2]
    assert seqs("untilUtc=2026-03-01T13:00:00Z") == [1]
    assert seqs("user=nobody") == []


@pytest.mark.parametrize("query", ["size=0", "size=501", "size=x", "before=x", "sinceUtc=now"])
def test_a_query_of_the_audit_log_beyond_its_bounds_is_refused(admin: Console, query: str) -> None:
    assert admin.fails("GET", f"/audit?{query}").status == 400


@pytest.mark.attack(71)
def test_the_chain_is_verified_and_the_first_bad_record_named(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    for _ in range(3):
        as_writer("upsertEntry", entry=entry())
    admin("POST", "/users", {"user": "alice", "tier": "none"})
    assert admin("GET", "/audit/verify") == {"intact": True, "records": 4, "bad": None}

    path = house.root / "logs" / "audit.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"writer"', b'"reader"', 1))

    answer = admin("GET", "/audit/verify")
    assert (answer["intact"], answer["bad"]["line"], answer["bad"]["seq"]) == (False, 1, 1)


def write_log(house: House, *lines: dict[str, Any], name: str = "qms.log") -> None:
    folder = house.root / "logs"
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / name).write_text(text, encoding="utf-8")


def test_the_log_shows_its_latest_lines_by_level_and_text(house: House, admin: Console) -> None:
    write_log(house, {"level": "error", "message": "set aside"}, name="qms.log.1")
    lines = [
        {"level": level, "message": f"{level} {number}"}
        for number in range(3)
        for level in ("debug", "info", "warning")
    ]
    write_log(house, *lines)

    def messages(query: str) -> list[str]:
        return [one["message"] for one in admin("GET", f"/logs?{query}")["items"]]

    assert messages("size=2") == ["info 2", "warning 2"]
    assert messages("level=warning") == ["set aside", "warning 0", "warning 1", "warning 2"]
    assert messages("text=INFO%201") == ["info 1"]
    assert admin.fails("GET", "/logs?level=loud").status == 400


def test_the_log_of_a_project_is_told_only_to_whom_it_is_open(house: House, admin: Console) -> None:
    write_log(
        house,
        *(
            {"level": "info", "message": "backup made", "project": project, "entries": 9}
            for project in ("projA", "closed", "gone")
        ),
        {"level": "info", "message": "command answered", "project": ""},
        {"level": "info", "message": "stopped"},
    )

    def told(console: Console) -> list[str | None]:
        return [one.get("project") for one in console("GET", "/logs?size=3")["items"]]

    assert told(admin) == ["projA", "", None]
    admin("PUT", "/permissions/closed", {"permissions": {"admin": "reader"}})
    assert told(admin) == ["closed", "", None]


def test_a_key_in_the_log_is_not_shown(house: House, admin: Console) -> None:
    key = "qms_" + "x" * 43
    write_log(house, {"level": "info", "message": f"somebody wrote {key}"})

    (line,) = admin("GET", "/logs")["items"]

    assert line["message"] == "somebody wrote qms_[redacted]"


def test_a_log_that_is_not_there_or_torn_is_no_error(house: House, admin: Console) -> None:
    assert admin("GET", "/logs")["items"] == []
    (house.root / "logs").mkdir(exist_ok=True)
    (house.root / "logs" / "qms.log").write_bytes(b'{"level":"info"}\n\xff not json\n{"lev')

    assert admin("GET", "/logs")["items"] == [{"level": "info"}]


def test_recent_recalls_say_who_got_what_in_open_projects(
    admin: Console, as_writer: Door, as_reader: Door, entry: EntryMaker
) -> None:
    entry_id = as_writer("upsertEntry", entry=entry(title="Harbour"))["id"]
    as_reader("searchEntries", query={"text": "harbour"})
    as_writer("recall", context="harbour")
    as_reader("searchEntries", query={"text": "harbour"}, include="ids")

    found = admin("GET", "/audit?recalls=true")["recalls"]

    assert [(one["user"], one["command"], one["ids"]) for one in found] == [
        ("reader", "searchEntries", [entry_id]),
        ("writer", "recall", [entry_id]),
        ("reader", "searchEntries", [entry_id]),
    ]
    assert [one["user"] for one in admin("GET", "/audit?recalls=true&user=writer")["recalls"]] == [
        "writer"
    ]
    assert admin("GET", "/audit?recalls=true&project=projB")["recalls"] == []
    assert "recalls" not in admin("GET", "/audit")


def test_figures_are_sampled_for_charts(
    house: House, admin: Console, as_writer: Door, entry: EntryMaker
) -> None:
    house.series.sample(datetime.now(UTC), {})
    for _ in range(4):
        as_writer("upsertEntry", entry=entry())
    as_writer.fails("getEntry", id="nowhere")
    stores = {"projA": StoreFigures(4, 1, 2), "closed": StoreFigures(9, 9, 9)}

    house.series.sample(datetime.now(UTC), stores)

    answer = admin("GET", "/series")
    moment = answer["items"][-1]
    assert (moment["requests"], moment["failures"]) == (5, 1)
    assert moment["meanMs"] > 0
    assert 0 < moment["p95Ms"] <= 10_000
    assert moment["memoryBytes"] > 1_000_000
    assert moment["stores"] == {"projA": {"entries": 4, "embeddingBacklog": 1, "pendingJournal": 2}}
    assert answer["intervalSeconds"] == 5


def test_an_hour_of_figures_is_kept_and_no_more(house: House, admin: Console) -> None:
    for second in range(KEPT_MOMENTS + 3):
        house.series.sample(datetime.fromtimestamp(second, UTC), {})

    items = admin("GET", "/series")["items"]

    assert len(items) == KEPT_MOMENTS
    assert items[0]["atUtc"] == "1970-01-01T00:00:03Z"


def test_nothing_of_the_files_is_named_by_its_absolute_path(
    house: House, admin: Console, tmp_path: Path
) -> None:
    for path in ("/projects", "/config", "/problems", "/logs", "/audit", "/series"):
        assert str(tmp_path) not in admin.send("GET", path).body.decode()
