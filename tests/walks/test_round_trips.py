"""What the server gives out it takes back: get and upsert, export and import, for any entry."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from qms.memory.entry import Document
from qms.memory.lines import encode_line
from qms.memory.validation import instant_text, version_of
from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import ALL_TOOLSETS, CONFIGURATION, Clock, Door, House
from tests.support.strategies import documents, main_texts, values

PROJECT = "p"
WITH_PROJECT = (
    f'{CONFIGURATION}[endpoint.{PROJECT}]\nslug = "{PROJECT}"\n{ALL_TOOLSETS}\n'
    # A relation into a project that does not exist is hidden, and so in no export.
    '[endpoint.elsewhere]\nslug = "elsewhere"\n'
)
PAST = "2020-01-01T00:00:00Z"
STAMPED = ("timestamps", "agentId", "ttlUtc")
"""Fields that an import into a project without the entry may set: times, author, end."""

FEW = settings(max_examples=8, phases=[Phase.explicit, Phase.generate])
"""Each example is a server or three with up to a dozen entries: more entries, not more servers."""

relations = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["ref", "supersedes", "my-own_type"]),
        "targetId": st.sampled_from(["p:absent", "shared:x", "elsewhere:y"]),
    },
    optional={
        "weight": st.floats(0, 1),
        "createdUtc": st.just(PAST),
        "metadata": st.dictionaries(main_texts, values, max_size=2),
    },
)


@st.composite
def held_entries(draw: st.DrawFn) -> list[Document]:
    """Draw entries as they may stand in a file, some permanent and past their end."""
    found = []
    for number in range(draw(st.integers(1, 12))):
        document = draw(documents(f"e{number}"))
        if draw(st.booleans()):
            document |= {"relations": draw(st.lists(relations, min_size=1, max_size=2))}
        if draw(st.booleans()):
            document |= {"isPermanent": True, "ttlUtc": PAST}
        found.append(document)
    return found


class Root:
    """A server of its own with some entries in its file, and the ways to them."""

    def __init__(self, folder: Path, held: list[Document]) -> None:
        folder.mkdir(parents=True)
        self.house = House(folder, Clock(), text=WITH_PROJECT)
        file = self.house.entries_file(PROJECT)
        file.parent.mkdir(parents=True)
        file.write_bytes(b"".join(encode_line(one) + b"\n" for one in held))
        self.admin: Door = self.house.door("admin", PROJECT)
        self.console = Console(self.house.client)

    def versions(self) -> dict[str, str]:
        """Return what is stored, by id."""
        records = self.house.store(PROJECT).view.records
        return {entry_id: record.version() for entry_id, record in records.items()}

    def exported(self, form: str) -> str:
        """Return the whole project as a text."""
        part = self.console("GET", f"/export/{PROJECT}?format={form}")
        assert part["nextCursor"] is None
        return str(part["text"])

    def read(self, text: str, form: str, *, trusts: bool) -> list[Document]:
        """Return the entries of a text, as `bulkImport` takes them."""
        request = {"format": form, "content": text, "trustSource": trusts}
        found = self.console("POST", f"/import/{PROJECT}", request)
        assert found["broken"] == []
        return [one["entry"] for one in found["items"]]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = iter(range(1_000_000))
    return lambda: tmp_path_factory.mktemp("roots") / str(next(made))


@FEW
@given(held=held_entries())
def test_an_entry_that_is_read_and_stored_again_is_the_same(
    folders: Any, held: list[Document]
) -> None:
    root = Root(folders(), held)
    try:
        before = root.versions()
        assert len(before) == len(held)
        root.house.clock.move(hours=1)
        for entry_id, version in before.items():
            got = root.admin("getEntry", id=entry_id)
            answer = root.admin("upsertEntry", entry=got["entry"], ifVersion=got["version"])
            assert got["version"] == answer["version"] == version
            assert (answer["created"], answer["updated"]) == (False, False)
        assert root.versions() == before
    finally:
        root.house.close()


@FEW
@given(held=held_entries(), form=st.sampled_from(["jsonl", "json"]), trusts=st.booleans())
def test_an_export_that_is_imported_where_it_came_from_changes_nothing(
    folders: Any, held: list[Document], form: str, trusts: bool
) -> None:
    root = Root(folders(), held)
    try:
        before = root.versions()
        root.house.clock.move(hours=1)
        entries = root.read(root.exported(form), form, trusts=trusts)
        answer = root.admin("bulkImport", entries=entries)
        assert answer == {"imported": 0, "updated": 0, "skipped": len(held), "errors": []}
        assert root.versions() == before
    finally:
        root.house.close()


@FEW
@given(held=held_entries())
def test_an_export_is_taken_by_an_empty_project(folders: Any, held: list[Document]) -> None:
    fitting = [{key: one[key] for key in one if key != "embedding"} for one in held]
    root, exact, plain = (Root(folders(), one) for one in (fitting, [], []))
    try:
        text = root.exported("jsonl")
        lines = [msgspec.json.decode(one) for one in text.splitlines()]
        changes = [
            {"id": one["id"], "kind": "create", "expected": None, "entry": one} for one in lines
        ]
        exact.admin("syncApply", changes=changes)
        assert exact.versions() == root.versions()

        answer = plain.admin("bulkImport", entries=plain.read(text, "jsonl", trusts=True))
        assert (answer["imported"], answer["errors"]) == (len(held), [])
        for entry_id in root.versions():
            ours, theirs = (one.admin("getEntry", id=entry_id)["entry"] for one in (root, plain))
            assert _unstamped(ours) == _unstamped(theirs)
            assert theirs["timestamps"]["createdUtc"] == ours["timestamps"]["createdUtc"]
    finally:
        for one in (root, exact, plain):
            one.house.close()


def _unstamped(entry: Document) -> str:
    """Return the version that an entry would have without what an import may set."""
    return version_of({key: value for key, value in entry.items() if key not in STAMPED})


def test_a_permanent_entry_has_no_end_whatever_its_request_says(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    ended = entry(id="a", isPermanent=True, ttlUtc=PAST)
    assert as_admin("upsertEntry", entry=ended)["created"]
    assert as_admin("upsertEntry", entry={**ended, "title": "Other"})["updated"]
    as_admin("patchEntry", id="a", patch={"ttlUtc": "2021-01-01T00:00:00Z"})
    clock.move(days=1000)

    assert as_admin("getEntry", id="a")["entry"]["ttlUtc"] == "2021-01-01T00:00:00Z"


def test_an_end_in_the_past_counts_again_with_the_permanence(
    as_admin: Door, entry: EntryMaker, clock: Clock
) -> None:
    as_admin("upsertEntry", entry=entry(id="a", isPermanent=True, ttlUtc=PAST))
    later = instant_text(clock.now.replace(year=2030))

    assert as_admin.fails("patchEntry", id="a", patch={"isPermanent": False}).details["field"] == (
        "ttlUtc"
    )
    as_admin("patchEntry", id="a", patch={"isPermanent": False, "ttlUtc": later})
    refused = as_admin.fails("upsertEntry", entry=entry(id="b", ttlUtc=PAST))
    assert refused.details["field"] == "ttlUtc"


def test_the_same_number_of_another_type_is_a_change(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry(id="a", metadata={"on": 1}))

    assert as_writer("upsertEntry", entry=entry(id="a", metadata={"on": True}))["updated"]
    assert as_writer("getEntry", id="a")["entry"]["metadata"] == {"on": True}
