from collections import Counter
from contextlib import nullcontext
from typing import Any

import pytest

from qms.app.table import ADMIN_TABLE, COMMANDS, TABLE
from qms.commands.command import Command
from qms.commands.gate import begin
from qms.config.settings import Settings
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.errors import NotAllowedError, NotFoundError
from tests.support.house import House, key_of
from tests.support.mcp import SessionClient

QUERY = {"query": {"text": "seed"}}


@pytest.fixture
def looked_up(house: House, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the look-ups of endpoints and of access while the house serves."""
    house.door("writer")("upsertEntry", entry={"kind": "note", "body": "seed"})
    house.door("reader")("searchEntries", **QUERY)  # opens the shared store, too
    counts: Counter[str] = Counter()

    def counted(name: str) -> Any:
        method = getattr(Settings, name)

        def called(settings: Settings, *arguments: Any) -> Any:
            counts[name] += 1
            return method(settings, *arguments)

        return called

    for name in ("find_endpoint", "access", "access_in"):
        monkeypatch.setattr(Settings, name, counted(name))
    return counts


def test_a_search_over_http_looks_each_project_up_once(
    house: House, looked_up: Counter[str]
) -> None:
    assert house.door("reader")("searchEntries", **QUERY)["results"]

    # The project and the shared one beside it.
    assert looked_up == {"find_endpoint": 2, "access_in": 2}


def test_a_search_over_mcp_looks_each_project_up_once(
    house: House, looked_up: Counter[str]
) -> None:
    client = SessionClient(house.client, "reader")
    looked_up.clear()

    answer = client.call("searchEntries", **QUERY)

    assert answer["results"]
    assert looked_up == {"find_endpoint": 2, "access_in": 2}


ONE_PLACE = [row for row in COMMANDS if (row in TABLE) != (row in ADMIN_TABLE)]

PROJECT_OPTIONAL = {"listProblems", "listConflicts"}
"""Commands of a project and of the server, written down again: one more is a decision."""


def test_the_project_is_optional_for_few_commands() -> None:
    assert {row.name for row in TABLE if row in ADMIN_TABLE} == PROJECT_OPTIONAL


@pytest.mark.parametrize("name", sorted(PROJECT_OPTIONAL))
def test_with_a_project_the_tier_there_decides_and_without_one_the_own_tier(
    house: House, name: str
) -> None:
    ranks = '\n[permissions.projA]\nadmin = "reader"\nwriter = "admin"\n'
    house.reconfigure(lambda text: text + ranks)
    admin, writer = (house.gate.authenticate(key_of(user)) for user in ("admin", "writer"))

    for who, there, own in ((admin, False, True), (writer, True, False)):
        for project, is_allowed in (("projA", there), (None, own)):
            with nullcontext() if is_allowed else pytest.raises(NotAllowedError):
                house.gate.admit(who, project, name).check()


@pytest.mark.parametrize("row", ONE_PLACE, ids=lambda row: row.name)
def test_a_command_is_one_of_projects_or_of_the_server(house: House, row: Command) -> None:
    own, other = ("projA", None) if row in TABLE else (None, "projA")

    with pytest.raises(NotFoundError, match="there is no command"):
        house.gate.admit(LOCAL_ADMIN, other, row.name).check()
    assert house.gate.admit(LOCAL_ADMIN, own, row.name).check() is row


def test_the_tier_in_the_project_decides_there_and_the_own_tier_on_the_server(house: House) -> None:
    house.reconfigure(lambda text: f'{text}\n[permissions.projA]\nadmin = "reader"\n')
    who = house.gate.authenticate(key_of("admin"))

    there, own = (
        house.gate.admit(who, "projA", "upsertEntry"),
        house.gate.admit(who, None, "listUsers"),
    )

    assert (there.access, own.access) == (AccessTier.READER, AccessTier.ADMIN)
    with pytest.raises(NotAllowedError):
        there.check()
    assert own.check().name == "listUsers"


def test_a_call_on_the_server_reaches_the_projects_that_its_caller_opens_and_no_other(
    house: House,
) -> None:
    who = house.gate.authenticate(key_of("admin"))
    call = begin(house.gate.admit(who, None, "listProjects"))

    assert "projA" in call.opened
    assert "closed" not in call.opened
    assert call.in_project("PROJA").project == "projA"
    with pytest.raises(NotFoundError):
        call.in_project("closed")


def test_another_command_of_the_same_message_needs_no_other_look_up(
    house: House, looked_up: Counter[str]
) -> None:
    who = house.gate.authenticate(key_of("reader"))
    admission = house.gate.admit_client(who, "projA", None)
    looked_up.clear()

    assert admission.with_command("listEntries").check().name == "listEntries"
    assert admission.with_command("stats", by_tier=True).check().name == "stats"
    assert admission.offered
    assert looked_up == {}
