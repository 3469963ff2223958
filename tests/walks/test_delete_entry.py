import pytest

from tests.conftest import EntryMaker
from tests.support.house import Door, House


def test_a_deleted_entry_is_gone_from_every_answer(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("upsertEntry", entry=entry(id="one"))

    assert as_writer("deleteEntry", id="one") == {"deleted": True}

    assert as_writer.fails("getEntry", id="one").code == "notFound"
    assert as_writer("listEntries")["items"] == []
    assert as_writer.fails("deleteEntry", id="one").code == "notFound"


def test_a_deleted_entry_stands_in_the_archive(
    house: House, as_writer: Door, entry: EntryMaker
) -> None:
    as_writer("upsertEntry", entry=entry(id="one", title="Kept for later"))
    as_writer("deleteEntry", id="one")
    house.store().fold()

    archive = house.entries_file().with_name("archive.jsonl").read_text(encoding="utf-8")

    assert "Kept for later" in archive
    assert '"reason":"deleted"' in archive


def test_an_admin_deletes_a_permanent_entry_with_force_only(
    as_admin: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(id="rock", isPermanent=True))

    refusal = as_admin.fails("deleteEntry", id="rock")
    assert (refusal.status, refusal.code) == (409, "conflict")
    assert refusal.details["field"] == "force"

    assert as_admin("deleteEntry", id="rock", force=True) == {"deleted": True}


@pytest.mark.attack(9)
def test_a_curator_may_not_delete_a_permanent_entry_even_with_force(
    as_admin: Door, as_curator: Door, entry: EntryMaker
) -> None:
    as_admin("upsertEntry", entry=entry(id="rock", isPermanent=True))

    refusal = as_curator.fails("deleteEntry", id="rock", force=True)

    assert (refusal.status, refusal.code) == (403, "notAllowed")
    assert as_admin("getEntry", id="rock")["entry"]["isPermanent"] is True
