"""Toolsets, generated from the table: every row, every set of allowed toolsets, every door."""

from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.command import Command
from qms.config.settings import Toolset
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.errors import InvalidInputError
from tests.support.asgi import Answer
from tests.support.console import Browser, Console
from tests.support.house import ALL_TOOLSETS, CONFIGURATION, USERS, Clock, House
from tests.support.mcp import McpClient

CARE = [row for row in TABLE if row.care]
ALLOWED = [
    allowed for count in range(1, len(Toolset) + 1) for allowed in combinations(Toolset, count)
]
EVERY_ALLOWED = pytest.mark.parametrize("allowed", ALLOWED, ids="-".join)

NAMED_CARE = {
    *("verifyStore", "acceptHeld", "rejectHeld", "listProblems", "listConflicts"),
    *("dismissConflicts", "reloadStore", "eraseEntry", "rebuildIndexes"),
    *("syncState", "syncRead", "syncApply", "syncBase"),
    *("listArchive", "archiveStats", "purgeArchive", "restoreEntry", "history", "stats"),
}
"""The rows of care, written down again so that the code cannot quietly change them."""

WRONG: dict[str, Any] = {"colour": "blue"}
"""A request that every command refuses once the gate has let it in."""

Send = Callable[[Command], Answer]


def is_let_in(answer: Answer) -> bool:
    """Say whether the gate let a wrong request in; if not, it must have answered `notFound`."""
    error = answer.json["error"]
    if error["code"] == "invalidInput":
        assert (answer.status, error["details"]["field"]) == (400, "colour")
        return True
    assert (answer.status, error["code"]) == (404, "notFound")
    return False


def is_in(row: Command, allowed: tuple[Toolset, ...]) -> bool:
    """Say whether a row is in one of the toolsets; `lite` is a part of `core`."""
    return not row.toolsets.isdisjoint(allowed)


def let_in(send: Send) -> set[str]:
    """Return the rows that a door lets in."""
    return {row.name for row in TABLE if is_let_in(send(row))}


@pytest.mark.attack(90)
@EVERY_ALLOWED
def test_a_key_calls_over_api_exactly_what_its_project_allows(
    house: House, allowed: tuple[Toolset, ...]
) -> None:
    house.allow(*allowed)
    expected = {row.name for row in TABLE if is_in(row, allowed)}

    assert let_in(lambda row: house.door("admin").send(row.name, WRONG)) == expected
    if "core" in allowed:
        described = house.door("admin")("describe")["commands"]
        assert {one["name"] for one in described} == expected


@pytest.mark.attack(90)
@EVERY_ALLOWED
def test_a_key_calls_over_mcp_exactly_what_its_project_allows(
    house: House, allowed: tuple[Toolset, ...]
) -> None:
    house.allow(*allowed)
    client = McpClient(house.client, "admin", query=f"?toolsets={','.join(allowed)}")
    expected = [row.name for row in TABLE if is_in(row, allowed)]

    assert list(client.tools()) == expected
    for row in TABLE:
        if is_in(row, allowed):
            called = client.result("tools/call", {"name": row.name, "arguments": WRONG})
            assert called["structuredContent"]["error"]["details"]["field"] == "colour"
        else:
            error = client.error("tools/call", {"name": row.name, "arguments": WRONG})
            assert (error["code"], error["data"]["code"]) == (-32602, "notFound")


@pytest.mark.attack(90)
@EVERY_ALLOWED
def test_a_session_and_the_owner_of_the_machine_are_asked_for_the_tier_alone(
    house: House, allowed: tuple[Toolset, ...]
) -> None:
    house.allow(*allowed)
    browser = Browser(house.client)

    assert len(let_in(lambda row: browser.api("projA", row.name, **WRONG))) == len(TABLE)
    for row in TABLE:
        with pytest.raises(InvalidInputError, match="colour"):
            house.gate.call(LOCAL_ADMIN, "projA", row.name, WRONG)


@pytest.mark.attack(90)
@EVERY_ALLOWED
def test_the_administration_looks_after_a_store_whatever_its_project_allows(
    house: House, allowed: tuple[Toolset, ...]
) -> None:
    house.allow(*allowed)

    for one in (Console(house.client), Browser(house.client)):
        found = let_in(lambda row, one=one: one.send("POST", f"/stores/projA/{row.name}", WRONG))  # type: ignore[misc] # the loop's own value
        assert found == {row.name for row in CARE}


@pytest.mark.attack(90)
def test_every_row_of_a_store_has_its_toolset_and_no_row_of_the_server_alone_has_one() -> None:
    assert set[str]().union(*(row.toolsets for row in TABLE)) == set(Toolset)
    assert all(row.toolset in row.toolsets for row in TABLE)
    assert {row.toolset for row in ADMIN_TABLE if row not in TABLE} == {None}
    assert {row.name for row in CARE} == NAMED_CARE


@pytest.mark.attack(90)
@pytest.mark.parametrize("row", CARE, ids=lambda row: row.name)
def test_each_tier_looks_after_a_store_as_far_as_the_table_says(house: House, row: Command) -> None:
    house.allow("core")

    for user in USERS:
        answer = Console(house.client, user).send("POST", f"/stores/projA/{row.name}", WRONG)
        if AccessTier.from_label(user) >= row.least:
            assert is_let_in(answer)
        else:
            assert (answer.status, answer.json["error"]["code"]) == (403, "notAllowed")
            assert answer.json["error"]["details"]["needs"] == row.least.label


@pytest.mark.attack(90)
@pytest.mark.parametrize("user", USERS)
def test_the_care_of_a_closed_store_answers_like_that_of_an_absent_one(
    house: House, user: str
) -> None:
    console = Console(house.client, user)
    for row in CARE:
        closed, absent = (
            console.send("POST", f"/stores/{slug}/{row.name}", {}) for slug in ("closed", "absent")
        )
        assert closed.status == 404
        assert closed == absent
    assert house.catalog.loaded("closed") is None


def test_a_session_that_also_shows_a_key_is_asked_like_the_key(house: House) -> None:
    house.allow("core")
    browser = Browser(house.client)
    keyed = Browser.headers

    browser.headers = lambda: [*keyed(browser), ("x-api-key", "qms_key_of_the_admin_for_tests")]  # type: ignore[method-assign] # one header more

    assert not is_let_in(browser.api("projA", "stats", **WRONG))


def test_a_refusal_names_the_toolset_and_what_the_project_allows(house: House) -> None:
    house.allow("core", "lifecycle")

    refusal = house.door("reader").fails("verifyStore")

    assert (refusal.status, refusal.code) == (404, "notFound")
    assert refusal.details == {"command": "verifyStore", "toolset": "system"}
    assert "toolset system" in refusal.message
    assert "core, lifecycle" in refusal.message


def test_a_project_with_the_core_alone_keeps_its_archive_review_erase_and_rebuild(
    house: House,
) -> None:
    house.allow("core")
    door, browser = house.door("admin"), Browser(house.client)
    for name in ("one", "two"):
        door("upsertEntry", entry={"id": name, "kind": "note", "body": name})
    door("deleteEntry", id="one")

    def page(command: str, **request: Any) -> Any:
        answer = browser.api("projA", command, **request)
        assert answer.status == 200, answer.body
        return answer.json

    assert [item["id"] for item in page("listArchive")["items"]] == ["projA:one"]
    assert page("archiveStats")["archived"] == 1
    assert page("restoreEntry", id="one")["entry"]["body"]["text"] == "one"
    assert page("history", id="one")["items"]
    assert page("stats")["entries"] == 2
    assert page("listContradictions")["items"] == []
    assert page("findDuplicates")["pairs"] == []
    assert page("rebuildIndexes")["rebuild"] == 1
    assert page("eraseEntry", id="two")["id"] == "projA:two"
    assert page("purgeArchive", olderThanDays=0)["purged"] >= 0


def test_care_answers_rows_where_rows_are_asked_for(house: House) -> None:
    house.allow("core")

    answer = Console(house.client).send("POST", "/stores/projA/listArchive", {"format": "toon"})

    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")


def test_care_is_written_down_with_the_agent_that_asked(house: House) -> None:
    house.allow("core")
    house.door("admin")("upsertEntry", entry={"id": "one", "kind": "note", "body": "one"})
    console = Console(house.client, agent_id="ai:tidy")

    console("POST", "/stores/projA/eraseEntry", {"id": "one"})

    items = Console(house.client)("GET", "/audit?command=eraseEntry")["items"]
    written = {(item["user"], item.get("agentId"), item["project"]) for item in items}
    assert written == {("admin", "ai:tidy", "projA")}


UNBUILT = 'slug = "projA"\ntoolsets = ["core", "lifecycle", "analytics", "code"]\n'


@pytest.fixture
def upgraded(tmp_path: Path, clock: Clock) -> Iterator[House]:
    """A root whose file named toolsets that no version has built."""
    text = CONFIGURATION.replace(f'slug = "projA"\n{ALL_TOOLSETS}\n', UNBUILT)
    house = House(tmp_path, clock, text=text)
    yield house
    house.close()


def test_a_file_that_names_an_unbuilt_toolset_starts_without_it_and_reports_it(
    upgraded: House,
) -> None:
    assert upgraded.door("reader")("capabilities")["toolsets"] == ["core", "lifecycle"]
    upgraded.door("writer")("upsertEntry", entry={"kind": "note", "body": "kept"})

    report = upgraded.door("admin")("health")

    reasons = [one["reason"] for one in report["problems"] if one["code"] == "configuration"]
    assert [reason.partition(" is not built")[0] for reason in reasons] == [
        "endpoint.projA.toolsets: toolset analytics",
        "endpoint.projA.toolsets: toolset code",
    ]
    assert all(toolset in reasons[0] for toolset in Toolset)
    assert upgraded.door("reader")("health")["problems"] == []
    Console(upgraded.client)("POST", "/users", {"user": "newcomer", "tier": "reader"})
    assert "analytics" in upgraded.toml.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["graph", "analytics", "code", "memorized", "magic"])
@pytest.mark.parametrize("setting", ["toolsets", "defaultToolsets"])
def test_no_edit_brings_in_a_toolset_that_is_not_built(
    house: House, name: str, setting: str
) -> None:
    console, before = Console(house.client), house.toml.read_bytes()
    text = console("GET", "/config")["text"]
    wanted = text.replace('slug = "projB"\n', f'slug = "projB"\n{setting} = ["core", "{name}"]\n')
    if setting == "toolsets":
        wanted = wanted.replace(f'"]\n{ALL_TOOLSETS}\n', '"]\n')
    settings = {setting: ["core", name]}

    refusals = [
        console.fails("PATCH", "/projects/projB", {"settings": settings}),
        console.fails("POST", "/projects", {"slug": "new", "settings": settings}),
        console.fails("PUT", "/config", {"text": wanted, "ifVersion": house.configuration.version}),
    ]
    checked = console("POST", "/config/validate", {"text": wanted})

    assert [refusal.code for refusal in refusals] == ["invalidInput"] * 3
    built = "core, lifecycle, documents, system, aiMemory, serverMemory"
    assert all(built in one.message for one in refusals)
    assert refusals[0].details["field"].startswith(f"settings.{setting}")
    assert not checked["valid"]
    assert house.toml.read_bytes() == before


def test_an_edit_by_hand_that_names_an_unbuilt_toolset_is_not_taken(house: House) -> None:
    house.reconfigure(lambda text: text.replace(f'slug = "projA"\n{ALL_TOOLSETS}\n', UNBUILT))

    assert house.configuration.error is not None
    assert house.configuration.error.field == "endpoint.projA.toolsets"
    assert len(house.configuration.settings.endpoints["projA"].toolsets) == len(Toolset)
