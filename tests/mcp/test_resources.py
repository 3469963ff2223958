"""Resources: entries, lists and pages under their addresses, and nothing that is not open."""

import json
from typing import Any

import pytest

from qms.mcp.addresses import EntryAddress, ListAddress, address_of, addresses_of, read_address
from tests.conftest import EntryMaker
from tests.mcp.conftest import ClientMaker, SessionMaker
from tests.support.house import House
from tests.support.mcp import McpClient


def read(client: McpClient, uri: str) -> Any:
    [content] = client.result("resources/read", {"uri": uri})["contents"]
    assert content["uri"] == uri
    return json.loads(content["text"])


def test_an_entry_is_read_by_its_whole_and_its_local_id(
    house: House, mcp: ClientMaker, entry: EntryMaker
) -> None:
    stored = house.door("writer")("upsertEntry", entry=entry(id="one"))
    client = mcp("reader")

    for uri in ("memory://projA/projA:one", "memory://projA/one", "memory://projA/projA%3Aone"):
        answer = read(client, uri)
        assert answer == house.door("reader")("getEntry", id="one")
        assert answer["version"] == stored["version"]


def test_entries_are_listed_page_by_page_after_the_pages_of_the_server(
    house: House, mcp: ClientMaker, entry: EntryMaker
) -> None:
    house.door("writer")("bulkImport", entries=[entry(id=f"e{number}") for number in range(150)])
    client = mcp("reader")

    first = client.result("resources/list")
    second = client.result("resources/list", {"cursor": first["nextCursor"]})

    addresses = [one["uri"] for one in first["resources"] + second["resources"]]
    assert addresses[0].startswith("help://")
    assert sorted(one for one in addresses if one.startswith("memory:")) == sorted(
        f"memory://projA/projA:e{number}" for number in range(150)
    )
    assert "nextCursor" not in second
    assert first["cacheScope"] == "private"


def test_a_forged_cursor_is_refused(mcp: ClientMaker) -> None:
    assert mcp().error("resources/list", {"cursor": "forged"})["code"] == -32602


def test_templates_fit_the_addresses(mcp: ClientMaker) -> None:
    listed = mcp().result("resources/templates/list")["resourceTemplates"]

    assert [one["uriTemplate"] for one in listed] == [
        "memory://projA/{id}",
        "memory://projA/{?tag,kind}",
    ]


def test_a_list_is_read_by_tag_and_kind(house: House, mcp: ClientMaker, entry: EntryMaker) -> None:
    writer = house.door("writer")
    writer("upsertEntry", entry=entry(id="a", tags=["red"]))
    writer("upsertEntry", entry=entry(id="b", tags=["blue"]))
    writer("upsertEntry", entry={"id": "c", "kind": "note", "body": "x", "tags": ["red"]})

    def ids(query: str) -> list[str]:
        answer = read(mcp("reader"), f"memory://projA/?{query}")
        return sorted(item["id"] for item in answer["items"])

    assert ids("tag=red") == ["projA:a", "projA:c"]
    assert ids("tag=red&kind=note") == ["projA:c"]


@pytest.mark.parametrize(
    "uri",
    [
        "memory://projA/absent",
        "memory://projB/one",
        "memory://closed/one",
        "memory://absent/one",
        "memory://closed/?tag=a",
        "memory://projA/projB:one",
        "memory:///one",
        "help://nothing",
        "file:///etc/passwd",
        "memory://[projA/one",
        "",
    ],
)
def test_an_address_that_leads_nowhere_or_is_closed_is_not_found(
    house: House, mcp: ClientMaker, session: SessionMaker, entry: EntryMaker, uri: str
) -> None:
    house.door("admin", "projB")("upsertEntry", entry=entry(id="one"))

    now, before = mcp(), session()

    assert now.error("resources/read", {"uri": uri})["code"] == -32602
    assert before.error("resources/read", {"uri": uri}) == {
        "code": -32002,
        "message": "Resource not found",
        "data": {"uri": uri},
    }


def test_a_shared_entry_is_read_where_the_project_includes_the_shared_store(
    house: House, mcp: ClientMaker, entry: EntryMaker
) -> None:
    house.door("admin", "shared")("upsertEntry", entry=entry(id="all"))

    answer = read(mcp("reader"), "memory://shared/all")

    assert answer["entry"]["id"] == "shared:all"
    error = mcp("reader", "projB").error("resources/read", {"uri": "memory://shared/all"})
    assert error["message"] == "Resource not found"


def test_the_schema_of_an_entry_is_a_page(mcp: ClientMaker) -> None:
    schema = read(mcp("reader"), "help://schema")

    assert "statement" in repr(schema["$defs"])


def test_an_address_is_read_back_from_what_lists_name() -> None:
    assert read_address(address_of("p:x~1")) == EntryAddress("p", "p:x~1")
    assert {read_address(one) for one in addresses_of("p:x")} == {EntryAddress("p", "p:x")}
    assert read_address("memory://p/?kind=fact&other=1") == ListAddress("p", {"kind": "fact"})
