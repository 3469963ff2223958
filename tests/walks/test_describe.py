import pytest

from qms.app.table import TABLE
from qms.memory.access import AccessTier
from qms.memory.bodies import Kind
from tests.support.house import USERS, House


@pytest.mark.parametrize("user", USERS)
def test_each_tier_sees_the_commands_that_it_may_call(house: House, user: str) -> None:
    answer = house.door(user)("describe")

    access = AccessTier.from_label(user)
    expected = [command.name for command in TABLE if command.least <= access]
    assert [command["name"] for command in answer["commands"]] == expected


def test_tools_for_clients_of_other_servers_are_described_where_they_are_allowed(
    house: House,
) -> None:
    house.allow("core", "serverMemory")

    names = {command["name"] for command in house.door("reader")("describe")["commands"]}

    assert "read_graph" in names
    assert not any(name.startswith("memory_") for name in names)


def test_a_command_is_described_by_tier_schema_help_and_example(house: House) -> None:
    commands = house.door("reader")("describe")["commands"]
    related = next(command for command in commands if command["name"] == "relatedEntries")

    assert related["tier"] == "reader"
    assert related["help"]
    assert related["example"]["maxHops"] == 2
    assert related["requestSchema"]["required"] == ["id"]
    assert related["requestSchema"]["properties"]["maxHops"]["default"] == 2


def test_every_kind_is_described_by_its_main_text(house: House) -> None:
    kinds = house.door("reader")("describe")["kinds"]

    assert set(kinds) == set(Kind)
    assert kinds["note"] == {"main": ["text"], "optional": ["context"]}
    assert kinds["document"]["main"] == ["text", "path"]
