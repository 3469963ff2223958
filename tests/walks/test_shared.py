import pytest

from tests.conftest import EntryMaker
from tests.support.house import Door, House


@pytest.fixture
def shared(as_writer: Door, entry: EntryMaker) -> str:
    answer = as_writer.at("shared")("upsertEntry", entry=entry(id="common"))
    assert isinstance(answer["id"], str)
    return answer["id"]


def test_a_shared_entry_is_read_through_every_endpoint_that_includes_it(
    as_reader: Door, shared: str
) -> None:
    assert as_reader("getEntry", id="SHARED:common")["entry"]["project"] == "shared"
    assert as_reader.at("shared")("getEntry", id="common")["entry"]["id"] == shared


def test_an_endpoint_without_shared_does_not_read_it(as_reader: Door, shared: str) -> None:
    assert as_reader.at("projB").fails("getEntry", id=shared).code == "notFound"


def test_a_caller_who_may_not_open_shared_does_not_read_it_elsewhere(
    house: House, as_reader: Door, shared: str
) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.shared]\nreader = "none"\n')

    assert as_reader.fails("getEntry", id=shared).code == "notFound"


@pytest.mark.parametrize(
    ("command", "rest"), [("patchEntry", {"patch": {"tags": ["x"]}}), ("deleteEntry", {})]
)
def test_a_shared_entry_is_written_through_its_own_endpoint_only(
    as_writer: Door, shared: str, command: str, rest: dict[str, object]
) -> None:
    before = as_writer("getEntry", id=shared)

    refusal = as_writer.fails(command, id=shared, **rest)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert as_writer("getEntry", id=shared) == before
    as_writer.at("shared")(command, id=shared, **rest)


def test_shared_entries_are_not_in_the_list_of_another_project(
    as_reader: Door, shared: str
) -> None:
    assert as_reader("listEntries")["items"] == []
    assert len(as_reader.at("shared")("listEntries")["items"]) == 1
