"""The administration's rights, generated from its table: who may reach which row."""

from typing import Any

import pytest

from qms.app.table import ADMIN_TABLE
from qms.commands.command import Command
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.errors import NotFoundError
from tests.support.asgi import AsgiClient
from tests.support.console import Console
from tests.support.house import House

ROWS = pytest.mark.parametrize("row", ADMIN_TABLE, ids=lambda row: row.name)
SESSION_ROWS = {"openSession", "getSession", "closeSession", "createSignInLink"}
PROJECT_ROWS = {"exportPart", "readImport"}
"""Decided by the caller's tier in the project: reader for an export, writer for an import."""
OPEN_ROWS = SESSION_ROWS | PROJECT_ROWS


def address_of(row: Command) -> tuple[str, str]:
    assert row.route is not None
    example = {name: str(value) for name, value in row.example.items()}
    path = row.route.path.removeprefix("/admin")
    for name, value in example.items():
        path = path.replace(f"{{{name}}}", value)
    return row.route.method, path


def content_of(row: Command) -> dict[str, Any] | None:
    assert row.route is not None
    return None if row.route.method in ("GET", "DELETE") else row.example


@pytest.mark.attack(8)
def test_everything_but_the_session_and_transfers_needs_the_users_own_tier_admin() -> None:
    open_rows = {row.name for row in ADMIN_TABLE if row.least is not AccessTier.ADMIN}

    assert open_rows == OPEN_ROWS


@ROWS
def test_a_row_says_what_it_does_and_how_it_is_called(row: Command) -> None:
    assert row.route is not None
    assert row.route.path.startswith("/admin/")
    assert row.read_only or row.route.method != "GET"
    assert row.help
    assert not row.help.endswith(".")


@pytest.mark.attack(1)
@ROWS
def test_without_a_key_there_is_nothing(client: AsgiClient, row: Command) -> None:
    method, path = address_of(row)
    if row.name == "openSession":
        return

    refusal = Console(client, None).fails(method, path, content_of(row))

    assert (refusal.status, refusal.code) == (401, "notAuthenticated")


@pytest.mark.attack(8)
@ROWS
def test_each_tier_below_admin_is_refused_and_changes_nothing(house: House, row: Command) -> None:
    if row.name in OPEN_ROWS:
        return
    before = house.toml.read_bytes()
    method, path = address_of(row)

    for user in ("reader", "writer", "curator"):
        refusal = Console(house.client, user).fails(method, path, content_of(row))
        assert (refusal.status, refusal.code) == (403, "notAllowed")

    assert house.toml.read_bytes() == before


@pytest.mark.attack(8)
def test_the_admin_of_one_project_does_not_administer_the_server(house: House) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.projA]\nwriter = "admin"\n')

    for row in ADMIN_TABLE:
        if row.name not in OPEN_ROWS:
            method, path = address_of(row)
            refusal = Console(house.client, "writer").fails(method, path, content_of(row))
            assert refusal.status == 403


@ROWS
def test_an_unknown_argument_is_named(client: AsgiClient, row: Command) -> None:
    if row.name in SESSION_ROWS:
        return
    method, path = address_of(row)
    content = content_of(row)
    if content is None:
        path += "?colour=blue"

    refusal = Console(client).fails(method, path, content and {**content, "colour": "blue"})

    assert (refusal.status, refusal.details["field"]) == (400, "colour")


@pytest.mark.attack(1)
@pytest.mark.parametrize("path", ["", "/", "/nowhere", "/users/x/y/z/", "/session/x"])
def test_an_address_that_is_none_is_told_apart_only_with_a_key(
    client: AsgiClient, path: str
) -> None:
    assert Console(client, None).fails("POST", path, {}).status == 401
    assert Console(client, "reader").fails("OPTIONS", path).status in (404, 405)


def test_a_method_that_an_address_does_not_take_is_answered_with_those_it_takes(
    client: AsgiClient,
) -> None:
    answer = Console(client).send("PATCH", "/users", {})

    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, POST"


@pytest.mark.attack(24)
def test_a_body_that_is_not_json_is_refused(client: AsgiClient) -> None:
    headers = [("x-api-key", "qms_key_of_the_admin_for_tests"), ("content-type", "text/plain")]

    assert client.request("POST", "/admin/users", headers=headers, chunks=[b"{}"]).status == 415


def test_an_argument_in_address_and_body_must_agree(client: AsgiClient) -> None:
    refusal = Console(client).fails("PUT", "/users/writer", {"user": "reader", "tier": "none"})

    assert (refusal.status, refusal.details["field"]) == (400, "user")


def test_a_command_of_projects_is_none_of_the_administration(house: House) -> None:
    with pytest.raises(NotFoundError):
        house.gate.call(LOCAL_ADMIN, None, "listEntries", {})
    with pytest.raises(NotFoundError):
        house.gate.call(LOCAL_ADMIN, "projA", "listUsers", {})
