"""Toolsets: an endpoint allows, has a default, and a client chooses with `?toolsets=`."""

import pytest

from tests.mcp.conftest import ClientMaker, SessionMaker
from tests.support.house import House, failure


@pytest.fixture
def with_system(house: House) -> House:
    house.allow("core", "system")
    return house


def test_the_default_is_what_the_endpoint_says(with_system: House, mcp: ClientMaker) -> None:
    assert "verifyStore" not in mcp().tools()
    assert "getEntry" in mcp().tools()


def test_a_client_chooses_among_what_is_allowed(with_system: House, mcp: ClientMaker) -> None:
    assert "verifyStore" in mcp(query="?toolsets=core,system").tools()
    assert "getEntry" in mcp(query="?toolsets=core,system").tools()
    assert "getEntry" not in mcp(query="?toolsets=system").tools()


def test_a_tool_outside_of_the_chosen_toolsets_is_unknown(
    with_system: House, mcp: ClientMaker
) -> None:
    assert mcp().error("tools/call", {"name": "verifyStore"})["code"] == -32602
    assert mcp(query="?toolsets=system").call("verifyStore") == {"items": []}


@pytest.mark.parametrize("query", ["", "?toolsets=core,system"])
@pytest.mark.parametrize("user", ["reader", "admin"])
def test_a_client_is_described_exactly_the_tools_that_it_gets(
    with_system: House, mcp: ClientMaker, user: str, query: str
) -> None:
    client = mcp(user, query=query)

    described = client.call("describe")["commands"]

    assert [one["name"] for one in described] == list(client.tools())


def test_a_session_chooses_too(with_system: House, session: SessionMaker) -> None:
    assert "verifyStore" in session(query="?toolsets=system").tools()


@pytest.mark.attack(81)
@pytest.mark.parametrize(
    "asked", ["code", "core,code", "core,nonsense", "Core", "core&toolsets=code"]
)
def test_what_the_endpoint_does_not_allow_is_refused(
    with_system: House, mcp: ClientMaker, asked: str
) -> None:
    refused = failure(mcp(query=f"?toolsets={asked}").send("tools/list"))

    assert (refused.status, refused.code) == (400, "invalidInput")
    assert refused.details["allowed"] == ["core", "lite", "system"]


def test_a_change_of_what_is_allowed_holds_at_once(with_system: House, mcp: ClientMaker) -> None:
    client = mcp(query="?toolsets=system")
    assert client.send("tools/list").status == 200

    with_system.reconfigure(lambda text: text.replace('["core","system"]', '["core"]'))

    assert client.send("tools/list").status == 400
