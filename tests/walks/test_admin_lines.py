"""Bad lines over `/admin`: read whole, corrected in their place, taken out."""

from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import Door, House

BAD = '{"kind":"fact","body":{"statement":"half of it"'


@pytest.fixture
def console(house: House) -> Console:
    return Console(house.client)


@pytest.fixture
def spoiled(house: House, as_admin: Door, entry: EntryMaker) -> House:
    """Return a house in which the second line of a project's file is bad."""
    as_admin("upsertEntry", entry=entry(title="first"))
    house.store("projA").fold()
    with house.entries_file("projA").open("a", encoding="utf-8") as file:
        file.write(BAD + "\n")
    as_admin("reloadStore")
    return house


def seen(console: Console) -> Any:
    return console("GET", "/problems/projA/2")


def test_a_bad_line_is_corrected_in_its_place(spoiled: House, console: Console) -> None:
    line = seen(console)
    assert (line["text"], line["isWhole"]) == (BAD, True)
    assert "JSON" in line["reason"]

    change = {"line": 2, "ifVersion": line["version"], "text": BAD + "}}"}
    done = console("PUT", "/problems/projA", change)

    stored = spoiled.door("reader")("getEntry", id=done["id"])
    assert stored["entry"]["body"] == {"statement": "half of it"}
    assert stored["version"] == done["version"]
    assert console("GET", "/problems?project=projA")["items"] == []
    (record,) = console("GET", "/audit?command=changeLine")["items"]
    assert (record["user"], record["changes"][0]["id"]) == ("admin", done["id"])


def test_a_bad_line_is_taken_out_and_the_audit_log_says_so(
    spoiled: House, console: Console
) -> None:
    change = {"line": 2, "ifVersion": seen(console)["version"]}

    assert console("PUT", "/problems/projA", change) == {"id": None, "version": None}

    assert console.fails("GET", "/problems/projA/2").status == 404
    (record,) = console("GET", "/audit?command=changeLine")["items"]
    assert record["changes"][0] == {"op": "remove", "id": "lines/projA/2", "version": None}


def test_a_correction_that_is_no_entry_names_the_reason(spoiled: House, console: Console) -> None:
    version = seen(console)["version"]

    refused = console.fails(
        "PUT", "/problems/projA", {"line": 2, "ifVersion": version, "text": "{}"}
    )
    empty = console.fails("PUT", "/problems/projA", {"line": 2, "ifVersion": version, "text": " "})
    stale = console.fails(
        "PUT", "/problems/projA", {"line": 2, "ifVersion": "0" * 16, "text": BAD + "}}"}
    )

    assert (refused.status, refused.details["field"]) == (400, "text")
    assert (empty.status, stale.status) == (400, 409)


def test_whoever_does_not_administer_the_project_finds_no_line(spoiled: House) -> None:
    curator, admin = Console(spoiled.client, "curator"), Console(spoiled.client)
    version = admin("GET", "/problems/projA/2")["version"]
    spoiled.reconfigure(lambda text: text + '\n[permissions.projA]\nadmin = "curator"\n')

    for console in (curator, admin):
        assert console.fails("GET", "/problems/projA/2").code == "notAllowed"
        change = {"line": 2, "ifVersion": version}
        assert console.fails("PUT", "/problems/projA", change).code == "notAllowed"
