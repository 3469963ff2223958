"""The commands of a sync: what one side tells, and what it takes from the other."""

from datetime import timedelta
from typing import Any

from qms.memory.access import LOCAL_ADMIN
from qms.memory.entry import Document
from qms.memory.validation import instant_text
from tests.support.boxes import entry as whole_entry
from tests.support.house import Clock, House


def call(house: House, command: str, **request: Any) -> Any:
    return house.gate.call(LOCAL_ADMIN, "projA", command, request)


def document(local: str, **fields: Any) -> Document:
    return whole_entry(local, id=f"projA:{local}", **fields)


def creation(entry_id: str, entry: Document) -> dict[str, Any]:
    return {"id": entry_id, "kind": "create", "expected": None, "entry": entry}


def test_an_entry_under_the_id_of_another_is_refused(house: House) -> None:
    changes = [creation("projA:a", document("b"))]

    answer = call(house, "syncApply", changes=changes)

    assert [(one.id, one.code) for one in answer.faults] == [("projA:a", "invalidInput")]
    assert answer.versions == {}
    assert len(house.store().view) == 0


def test_a_sync_brings_no_more_entries_than_the_quota_of_the_project(house: House) -> None:
    slug = 'slug = "projA"\n'
    house.reconfigure(lambda text: text.replace(slug, f"{slug}maxEntries = 2\n"))
    changes = [creation(f"projA:{local}", document(local)) for local in "abc"]

    answer = call(house, "syncApply", changes=changes)

    assert [(one.id, one.code) for one in answer.faults] == [("projA:c", "tooLarge")]
    assert sorted(house.store().view.records) == ["projA:a", "projA:b"]


def test_an_entry_that_has_expired_is_not_sent(house: House, clock: Clock) -> None:
    ends = instant_text(clock() + timedelta(hours=1))
    changes = [
        creation("projA:ends", document("ends", ttlUtc=ends)),
        creation("projA:stays", document("stays")),
    ]
    call(house, "syncApply", changes=changes)
    wanted = ["projA:ends", "projA:stays"]
    assert len(call(house, "syncRead", ids=wanted).entries) == 2
    clock.move(hours=2)

    (sent,) = call(house, "syncRead", ids=wanted).entries

    assert b'"id":"projA:stays"' in bytes(sent)
