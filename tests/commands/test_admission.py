from collections import Counter
from typing import Any

import pytest

from qms.app.table import ADMIN_TABLE, TABLE
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


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_command_of_projects_is_none_of_the_server(house: House, row: Command) -> None:
    with pytest.raises(NotFoundError, match="there is no command"):
        house.gate.admit(LOCAL_ADMIN, None, row.name).check()
    assert house.gate.admit(LOCAL_ADMIN, "projA", row.name).check() is row


@pytest.mark.parametrize("row", ADMIN_TABLE, ids=lambda row: row.name)
def test_a_command_of_the_server_is_none_of_projects(house: House, row: Command) -> None:
    with pytest.raises(NotFoundError, match="there is no command"):
        house.gate.admit(LOCAL_ADMIN, "projA", row.name).check()
    assert house.gate.admit(LOCAL_ADMIN, None, row.name).check() is row


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
