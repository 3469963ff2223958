"""Every read looks at its deadline between stages and every 1,000 rows, or has few rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.commands.admission import COMPLETE
from qms.commands.command import Command
from qms.commands.gate import begin
from qms.features.lists.completions import complete
from qms.memory.access import LOCAL_ADMIN
from qms.memory.deadline import ROWS_PER_CHECK, Deadline
from qms.memory.errors import QmsError, UnavailableError
from tests.support.house import Clock, House

ENTRIES = 2 * ROWS_PER_CHECK + 1
HUB = "01931c6e-0000-7000-8000-000000000000"
"""The id of the examples of the command table: here every other entry leads to it."""

PAPER = "projA:paper"
"""A document with as many chunks, to which every entity refers."""

READS = tuple(row for row in (*TABLE, *ADMIN_TABLE) if row.read_only)
BOUNDED = {
    "one entry, or as many as a limit allows": {
        "getEntry",
        "summaries",
        "detectContradiction",
        "memory_detect_contradiction",
        "getLine",
        "listProposals",
    },
    "no entry": {
        "health",
        "describe",
        "getUsageDoc",
        "capabilities",
        "memory_capabilities",
        "getSession",
        "listUsers",
        "listKeys",
        "getPermissions",
        "listProjects",
        "getConfig",
        "validateConfig",
        "listBackups",
        "getSeries",
    },
    "a text within its limit": {"extractMemories", "readImport"},
    "only what is wrong": {
        "listProblems",
        "listConflicts",
        "listAllProblems",
        "listAllConflicts",
        "listHeld",
    },
    "a check of a whole file, for admins, that must come to its end": {
        "verifyStore",
        "verifyAudit",
    },
    "a part of a log": {"listAudit", "listLogs"},
}
"""Reads that look at the deadline once, when they begin, by the reason why that is enough."""

BY_ROW = (
    *("listEntries", "listCurated", "coldStart", "relatedEntries", "getLinks", "findDuplicates"),
    *("listContradictions", "stats", "namespaces", "listArchive", "archiveStats", "syncState"),
    *("read_graph", "search_nodes", "memory_list", "memory_get_links", "memory_stats"),
    *("memory_archive_list", "memory_archive_stats", "exportPart"),
    *("getDocument", "analyzeDocument", "documentRefs"),
)
REQUESTS: dict[str, dict[str, Any]] = {
    "syncState": {},
    "syncRead": {"ids": ["projA:gone"]},
    "exportPart": {"project": "projA", "tag": "none"},
    "getLinks": {"id": HUB},
    "relatedEntries": {"id": HUB},
    "getDocument": {"id": PAPER, "include": "text"},
    "analyzeDocument": {"id": PAPER},
    "documentRefs": {"documentId": PAPER},
}


class Counted(Deadline):
    """A deadline that ends at its last check, if it has one."""

    def __init__(self, last: int | None = None) -> None:
        super().__init__(60.0)
        self.checks = 0
        self._last = last

    def check(self) -> None:
        self.checks += 1
        if self.checks == self._last:
            self.cancel()
        super().check()


def lines(count: int) -> Iterator[bytes]:
    for number in range(count):
        targets = [f"projA:{HUB}", PAPER] if number else []
        yield line(
            f"projA:{HUB[:-6]}{number:06}",
            kind="entity",
            title=f"Thing {number}",
            body={"entityType": "thing", "observations": [f"seen {number} times"]},
            relations=[{"type": "ref", "targetId": one} for one in targets],
        )


def paper(count: int) -> Iterator[bytes]:
    yield line(PAPER, kind="document", title="Paper", body={"text": "A paper about things"})
    for number in range(count):
        yield line(
            f"{PAPER}.{number:06}",
            kind="chunk",
            title="Paper",
            body={"text": f"Part {number}. ", "ordinal": number},
            relations=[{"type": "partOf", "targetId": PAPER}],
        )


def line(entry_id: str, **fields: Any) -> bytes:
    stamps = {"createdUtc": "2026-01-01T00:00:00Z", "updatedUtc": "2026-01-01T00:00:00Z"}
    return msgspec.json.encode({"schemaVersion": 1, "id": entry_id, "timestamps": stamps, **fields})


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Yield a house whose store and archive have more rows than are read between two checks."""
    root: Path = tmp_path_factory.mktemp("full")
    folder = root / "MemoryStores" / "projA"
    folder.mkdir(parents=True)
    written = (*lines(ENTRIES), *paper(ENTRIES))
    (folder / "entries.jsonl").write_bytes(b"".join(one + b"\n" for one in written))
    gone = b'{"archivedUtc":"2026-01-02T00:00:00Z","reason":"deleted","by":"a","entry":%b}\n'
    (folder / "archive.jsonl").write_bytes(b"".join(gone % one for one in lines(ENTRIES)))
    made = House(root, Clock())
    made.door("reader")("searchEntries", query={"text": "thing"})
    yield made
    made.close()


def run(house: House, row: Command, deadline: Deadline) -> None:
    request = REQUESTS.get(row.name, row.example)
    if row.route:
        house.gate.call(LOCAL_ADMIN, None, row.name, request, deadline=deadline)
    else:
        house.gate.call(LOCAL_ADMIN, "projA", row.name, request, deadline=deadline)


def checks_of(house: House, row: Command) -> int:
    deadline = Counted()
    try:
        run(house, row, deadline)
    except UnavailableError:
        raise
    except QmsError:
        assert row.name in {"listKeys", "getLine"}, row.name
    return deadline.checks


def test_a_read_that_looks_at_its_deadline_only_once_is_known_to_be_short(full: House) -> None:
    known = {name for names in BOUNDED.values() for name in names}

    assert {row.name for row in READS if checks_of(full, row) <= 1} == known


@pytest.mark.parametrize("name", BY_ROW)
def test_a_read_of_every_row_looks_at_its_deadline_every_thousand(full: House, name: str) -> None:
    row = next(row for row in READS if row.name == name)

    assert checks_of(full, row) >= 1 + ENTRIES // ROWS_PER_CHECK


@pytest.mark.parametrize("row", READS, ids=lambda row: row.name)
def test_a_read_ends_at_whichever_check_comes_after_its_client_is_gone(
    full: House, row: Command
) -> None:
    for last in {1, max(1, checks_of(full, row))}:
        deadline = Counted(last)
        with pytest.raises(UnavailableError, match="the client is gone"):
            run(full, row, deadline)
        assert deadline.checks == last


def test_a_completion_looks_at_its_deadline(full: House) -> None:
    deadline = Counted()

    admission = full.gate.admit(LOCAL_ADMIN, "projA", COMPLETE)
    complete(begin(admission, deadline=deadline), "tag", "none")

    assert deadline.checks >= ENTRIES // ROWS_PER_CHECK


def test_a_write_has_no_deadline_and_every_read_has_one(full: House) -> None:
    admitted = [
        *(full.gate.admit(LOCAL_ADMIN, "projA", row.name) for row in TABLE),
        *(full.gate.admit(LOCAL_ADMIN, None, row.name) for row in ADMIN_TABLE),
    ]

    timed = {one.command for one in admitted if one.deadline() is not None}

    assert timed == {row.name for row in READS}
