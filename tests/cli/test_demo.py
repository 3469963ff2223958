"""qms demo: a root to look around in."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from qms.cli.demo import memories
from qms.cli.demo_life import events
from qms.cli.server import main
from tests.support.server import ServerProcess

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_the_same_moment_gives_the_same_memories() -> None:
    assert memories(NOON) == memories(NOON)


def test_there_are_a_few_hundred_of_many_kinds_in_three_projects() -> None:
    made = memories(NOON)
    entries = [entry for project in made.values() for entry in project]

    assert len(made) == 3
    assert len(entries) > 200
    assert len({entry["id"] for entry in entries}) == len(entries)
    assert len({entry["kind"] for entry in entries}) >= 8


def test_every_relation_leads_to_an_entry_that_is_there() -> None:
    for project in memories(NOON).values():
        ids = {entry["id"] for entry in project}
        targets = {one["targetId"] for entry in project for one in entry["relations"]}
        assert targets <= ids


def test_the_root_is_served_with_the_key_that_was_printed(tmp_path: Path) -> None:
    root = tmp_path / "demo"

    done = CliRunner().invoke(main, ["demo", "--root", str(root)])

    assert done.exit_code == 0, done.output
    said = dict(line.split(": ", 1) for line in done.output.splitlines())
    with ServerProcess(root, key=said["admin key"]) as server:
        assert server.call("atlas", "stats")["entries"] > 100
        assert server.store("atlas")["problems"] == 0
        assert_lived_in(server)


def assert_lived_in(server: ServerProcess) -> None:
    """Check that weeks of work by several users have left their traces."""
    listed = server.call("atlas", "listEntries", page={"size": 200})["items"]
    days = {item["updatedUtc"][:10] for item in listed}
    assert len(days) > 20

    disputes = server.call("atlas", "listContradictions")["items"]
    assert len(disputes) >= 2
    archived = server.call("atlas", "listArchive")["items"]
    assert len(archived) >= 5
    assert {one["by"] for one in archived} >= {"ada", "ben"}
    assert server.call("pelican", "stats")["entries"] > 100  # waits until the store is loaded
    assert server.store("pelican")["problems"] == 1
    related = server.call("atlas", "relatedEntries", id="checkout-decision")["nodes"]
    assert len(related) >= 3

    audit = administer(server, "/admin/audit?size=200&project=atlas")["items"]
    assert {one["user"] for one in audit} >= {"ada", "ben", "claude-code", "cursor", "codex"}
    backups = administer(server, "/admin/backups")["items"]
    assert {one["mode"] for one in backups} == {"full", "differential"}
    assert len({one["createdUtc"][:10] for one in backups}) >= 7


def administer(server: ServerProcess, path: str) -> Any:
    connection = server.connect()
    try:
        connection.request("GET", path, headers={"X-Api-Key": server.key})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        return msgspec.json.decode(body)
    finally:
        connection.close()


def test_the_lived_in_project_is_the_first_that_the_page_opens(tmp_path: Path) -> None:
    CliRunner().invoke(main, ["demo", "--root", str(tmp_path / "demo")])

    text = (tmp_path / "demo" / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    slugs = re.findall(r'^slug = "(\w+)"', text, re.MULTILINE)
    assert slugs == ["shared", "atlas", "pelican", "default"]


def test_events_come_in_order_and_none_lies_ahead() -> None:
    story = events(memories(NOON), NOON)
    times = [one.at_utc for one in story]

    assert times == sorted(times)
    assert times[-1] <= NOON
    assert (times[-1] - times[0]).days > 21


def test_a_root_that_is_there_is_left_alone(tmp_path: Path) -> None:
    toml = tmp_path / "QuickMemoryServer.toml"
    toml.write_text("# mine\n", encoding="utf-8")

    done = CliRunner().invoke(main, ["demo", "--root", str(tmp_path)])

    assert done.exit_code == 5
    assert toml.read_text(encoding="utf-8") == "# mine\n"
    assert [path.name for path in tmp_path.iterdir()] == ["QuickMemoryServer.toml"]


def test_without_a_root_it_is_beside_the_usual_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["demo"], env={"QMS_ROOT": str(tmp_path / "mine")})

    assert done.exit_code == 0, done.output
    assert (tmp_path / "mine-demo" / "QuickMemoryServer.toml").exists()
    assert not (tmp_path / "mine").exists()
