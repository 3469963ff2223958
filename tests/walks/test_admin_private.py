"""A private project and an admin whom it does not list: no trace of its entries below `/admin`."""

import json
from typing import Any

import pytest

from qms.app.table import ADMIN_TABLE
from qms.commands.command import Command
from qms.telemetry.series import StoreFigures
from tests.conftest import EntryMaker
from tests.support.asgi import Answer
from tests.support.console import Console
from tests.support.house import Door, House

WORD = "pelican"


def has_project(row: Command) -> bool:
    return "project" in row.request.__struct_fields__


ROWS_OF_PROJECTS = [row for row in ADMIN_TABLE if has_project(row)]


@pytest.fixture
def listed(house: House) -> Door:
    """The way in of the one user whom the private project lists."""
    house.reconfigure(lambda text: text + '\n[permissions.closed]\nwriter = "admin"\n')
    return house.door("writer", "closed")


@pytest.fixture
def filled(house: House, listed: Door, entry: EntryMaker) -> House:
    """A private project with entries, a backup, a conflict copy and a bad line."""
    for number in range(12):
        listed("upsertEntry", entry=entry(id=f"e{number}", title=f"{WORD} {number}"))
    listed("backupStore")
    house.store("closed").fold()
    file = house.entries_file("closed")
    text = file.read_text(encoding="utf-8").replace(f"{WORD} 3", f"{WORD} by hand")
    listed("patchEntry", id="e3", patch={"title": f"{WORD} by an agent"})
    file.write_text(text + f'{{"kind":"fact", {WORD}\n', encoding="utf-8")
    house.store("closed").reload()
    status = house.store("closed").status()
    assert (status.problems, status.conflicts) == (1, 1)
    return house


def ask(console: Console, row: Command, project: str) -> Answer:
    assert row.route is not None
    arguments: dict[str, Any] = {**row.example, "project": project}
    path = row.route.path.removeprefix("/admin")
    for name in list(arguments):
        if f"{{{name}}}" in path:
            path = path.replace(f"{{{name}}}", str(arguments.pop(name)))
    if row.route.method != "GET":
        return console.send(row.route.method, path, arguments)
    query = "&".join(f"{name}={value}" for name, value in arguments.items())
    return console.send("GET", f"{path}?{query}")


@pytest.mark.attack(8)
@pytest.mark.parametrize("row", ROWS_OF_PROJECTS, ids=lambda row: row.name)
def test_a_private_project_is_an_absent_one_for_every_row_that_names_a_project(
    filled: House, row: Command
) -> None:
    before = filled.store("closed").view
    for user in ("reader", "admin"):
        console = Console(filled.client, user)
        closed, absent = (ask(console, row, project) for project in ("closed", "absent"))
        assert closed.status == absent.status
        assert closed.body.replace(b"closed", b"absent") == absent.body.replace(
            b"closed", b"absent"
        )
        assert WORD not in closed.body.decode()
    assert filled.store("closed").view is before


@pytest.mark.attack(8)
@pytest.mark.parametrize(
    "path", ["/problems", "/conflicts", "/held", "/backups", "/audit", "/logs", "/series"]
)
def test_lists_of_all_projects_leave_a_private_one_out(
    filled: House, listed: Door, path: str
) -> None:
    figures = {"closed": StoreFigures(12, 0, 0), "projA": StoreFigures(1, 0, 0)}
    filled.series.sample(filled.clock(), figures)
    line = {"level": "info", "message": "backup made", "project": "closed", "entries": 12}
    (filled.root / "logs" / "qms.log").write_text(json.dumps(line) + "\n", encoding="utf-8")
    if path == "/held":
        filled.store("closed").fold()
        filled.entries_file("closed").write_bytes(b"")
        filled.store("closed").reload()
    admin = Console(filled.client)

    assert b"closed" not in admin.send("GET", path).body

    filled.reconfigure(lambda text: text.replace('writer = "admin"\n', 'admin = "reader"\n'))
    assert b"closed" in admin.send("GET", path).body


def test_a_rename_does_not_tell_whether_a_private_project_has_entries(filled: House) -> None:
    admin = Console(filled.client)

    refused = admin.fails("POST", "/projects/closed/rename", {"to": "other"})

    assert (refused.status, refused.code) == (403, "notAllowed")
    filled.catalog.remove("closed")
    filled.entries_file("closed").unlink()
    assert admin.fails("POST", "/projects/closed/rename", {"to": "other"}) == refused


def test_no_other_project_can_be_made_of_the_folder_of_a_private_one(filled: House) -> None:
    wanted = {"slug": "spy", "settings": {"storagePath": "closed"}}

    refused = Console(filled.client).fails("POST", "/projects", wanted)

    assert (refused.status, refused.code) == (400, "invalidInput")
    assert filled.configuration.settings.find_endpoint("spy") is None
