import threading
from typing import Any

import pytest

from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House

FACT = {"kind": "fact", "title": "Guard", "body": {"statement": "The index is guarded"}}


def test_a_new_entry_gets_an_id_a_version_and_times(as_writer: Door, clock: Clock) -> None:
    answer = as_writer("upsertEntry", entry=FACT)

    assert answer == {
        "id": answer["id"],
        "version": answer["version"],
        "created": True,
        "updated": False,
        "similar": [],
        "contradictions": [],
        "warnings": [],
    }
    stored = as_writer("getEntry", id=answer["id"])
    assert stored["version"] == answer["version"]
    assert stored["entry"] == {
        "schemaVersion": 1,
        "id": answer["id"],
        "project": "projA",
        **FACT,
        "timestamps": {
            "createdUtc": "2026-03-01T12:00:00.000Z",
            "updatedUtc": "2026-03-01T12:00:00.000Z",
        },
        "agentId": "writer",
    }


def test_a_body_given_as_text_becomes_the_main_text(as_writer: Door) -> None:
    answer = as_writer("upsertEntry", entry={"kind": "procedure", "body": "Stop, then start"})

    stored = as_writer("getEntry", id=answer["id"])["entry"]

    assert stored["body"] == {"steps": ["Stop, then start"]}
    assert stored["title"] == "Stop, then start"


def test_an_exact_duplicate_is_a_no_op_that_names_the_first(as_writer: Door) -> None:
    first = as_writer("upsertEntry", entry=FACT)

    second = as_writer("upsertEntry", entry={**FACT, "tags": ["other"]})

    assert second["duplicateOf"] == second["id"] == first["id"]
    assert (second["created"], second["updated"]) == (False, False)
    assert second["version"] == first["version"]
    assert len(as_writer("listEntries")["items"]) == 1


@pytest.mark.parametrize(
    "difference",
    [
        {"kind": "note", "body": {"text": "The index is guarded"}},
        {"namespace": "other"},
        {"title": "guard"},
        {"body": {"statement": "The index is not guarded"}},
    ],
)
def test_what_differs_in_kind_namespace_title_or_body_is_no_duplicate(
    as_writer: Door, difference: dict[str, Any]
) -> None:
    as_writer("upsertEntry", entry=FACT)

    assert as_writer("upsertEntry", entry={**FACT, **difference})["created"]


def test_two_threads_upserting_the_same_new_fact_leave_one_entry(house: House) -> None:
    doors = [house.door("writer"), house.door("curator")]
    answers: list[Any] = []

    def write(door: Door) -> None:
        answers.extend(
            door("upsertEntry", entry={"kind": "fact", "body": f"Fact {number}"})
            for number in range(1000)
        )

    threads = [threading.Thread(target=write, args=(door,)) for door in doors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 2000
    assert sum(answer["created"] for answer in answers) == 1000
    assert len(house.store().view) == 1000


def test_an_entry_of_the_same_title_is_named_as_similar(as_writer: Door) -> None:
    first = as_writer("upsertEntry", entry=FACT)

    second = as_writer("upsertEntry", entry={**FACT, "title": "GUARD", "body": "Otherwise"})

    assert second["similar"] == [{"id": first["id"], "title": "Guard", "score": 1.0}]


def test_on_duplicate_title_update_replaces_the_latest_of_that_title(
    as_writer: Door, clock: Clock
) -> None:
    as_writer("upsertEntry", entry=FACT)
    clock.move(days=-400)
    later = as_writer("upsertEntry", entry={**FACT, "body": "Second"})

    answer = as_writer(
        "upsertEntry",
        entry={**FACT, "title": "gUARD", "body": "Third"},
        onDuplicateTitle="update",
    )

    assert (answer["id"], answer["updated"]) == (later["id"], True)
    assert as_writer("getEntry", id=later["id"])["entry"]["title"] == "gUARD"
    assert len(as_writer("listEntries")["items"]) == 2


def test_on_duplicate_title_update_creates_when_there_is_none(as_writer: Door) -> None:
    assert as_writer("upsertEntry", entry=FACT, onDuplicateTitle="update")["created"]


def test_a_chosen_id_is_taken_with_or_without_its_project(as_writer: Door) -> None:
    assert as_writer("upsertEntry", entry={**FACT, "id": "guard"})["id"] == "projA:guard"

    again = as_writer("upsertEntry", entry={**FACT, "id": "PROJA:guard", "body": "New"})

    assert (again["id"], again["updated"]) == ("projA:guard", True)


def test_a_replacement_keeps_when_the_entry_was_created(as_writer: Door, clock: Clock) -> None:
    as_writer("upsertEntry", entry={**FACT, "id": "guard"})
    clock.move(hours=1)

    as_writer("upsertEntry", entry={"id": "guard", "kind": "note", "body": "Other"})

    assert as_writer("getEntry", id="guard")["entry"]["timestamps"] == {
        "createdUtc": "2026-03-01T12:00:00.000Z",
        "updatedUtc": "2026-03-01T13:00:00.000Z",
    }


def test_unknown_fields_of_entry_and_body_are_kept(as_writer: Door) -> None:
    odd = {"kind": "note", "body": {"text": "x", "mood": {"is": ["odd"]}}, "colour": "blue"}

    stored = as_writer("getEntry", id=as_writer("upsertEntry", entry=odd)["id"])["entry"]

    assert stored["body"] == odd["body"]
    assert stored["colour"] == "blue"


def test_if_version_lets_the_current_version_through(as_writer: Door) -> None:
    first = as_writer("upsertEntry", entry={**FACT, "id": "guard"})

    second = as_writer(
        "upsertEntry", entry={**FACT, "id": "guard", "body": "New"}, ifVersion=first["version"]
    )

    assert second["updated"]
    assert second["version"] != first["version"]


@pytest.mark.attack(74)
@pytest.mark.parametrize("command", ["upsertEntry", "patchEntry", "deleteEntry"])
def test_a_stale_version_is_a_conflict_and_nothing_is_lost(as_writer: Door, command: str) -> None:
    stale = as_writer("upsertEntry", entry={**FACT, "id": "guard"})["version"]
    as_writer("patchEntry", id="guard", patch={"tags": ["first"]})
    current = as_writer("getEntry", id="guard")
    requests: dict[str, dict[str, Any]] = {
        "upsertEntry": {"entry": {**FACT, "id": "guard", "tags": ["second"]}},
        "patchEntry": {"id": "guard", "patch": {"tags": ["second"]}},
        "deleteEntry": {"id": "guard"},
    }

    refusal = as_writer.fails(command, **requests[command], ifVersion=stale)

    assert (refusal.status, refusal.code) == (409, "conflict")
    assert refusal.details == {"id": "projA:guard", "version": current["version"]}
    assert as_writer("getEntry", id="guard") == current


@pytest.mark.parametrize("command", ["upsertEntry", "patchEntry", "deleteEntry"])
def test_a_version_of_an_absent_id_is_not_found(as_writer: Door, command: str) -> None:
    requests: dict[str, dict[str, Any]] = {
        "upsertEntry": {"entry": {**FACT, "id": "absent"}},
        "patchEntry": {"id": "absent", "patch": {}},
        "deleteEntry": {"id": "absent"},
    }

    refusal = as_writer.fails(command, **requests[command], ifVersion="0123456789abcdef")

    assert (refusal.status, refusal.code) == (404, "notFound")


def test_a_version_without_an_entry_to_compare_is_not_found(as_writer: Door) -> None:
    as_writer("upsertEntry", entry=FACT)

    assert as_writer.fails("upsertEntry", entry=FACT, ifVersion="0" * 16).code == "notFound"


def test_a_duplicate_of_an_expired_entry_is_created_anew(as_writer: Door, clock: Clock) -> None:
    first = as_writer("upsertEntry", entry={**FACT, "retention": "short"})
    clock.move(hours=7)

    second = as_writer("upsertEntry", entry=FACT)

    assert second["created"]
    assert second["id"] != first["id"]
    assert as_writer("upsertEntry", entry=FACT)["duplicateOf"] == second["id"]


def test_the_id_of_an_expired_entry_is_free_again(as_writer: Door, clock: Clock) -> None:
    as_writer("upsertEntry", entry={**FACT, "id": "guard", "retention": "short"})
    clock.move(hours=7)

    assert as_writer("upsertEntry", entry={**FACT, "id": "guard", "body": "New"})["created"]
    assert as_writer("getEntry", id="guard")["entry"]["body"] == {"statement": "New"}


def test_relations_to_what_is_not_there_yet_are_warned_about(as_writer: Door) -> None:
    relations = [
        {"type": "ref", "targetId": "projA:absent"},
        {"type": "ref", "targetId": "closed:whatever"},
    ]

    answer = as_writer("upsertEntry", entry={**FACT, "relations": relations})

    assert answer["warnings"] == ["relations: 1 of the targets do not exist yet: projA:absent"]


@pytest.mark.attack(10)
@pytest.mark.parametrize(
    ("field", "value"),
    [("curationTier", "curated"), ("pinned", True), ("isPermanent", True)],
)
def test_a_writer_may_not_set_guarded_fields(
    as_writer: Door, entry: EntryMaker, field: str, value: Any
) -> None:
    as_writer("upsertEntry", entry=entry(id="mine"))

    for request in (entry(**{field: value}), entry(id="mine", **{field: value})):
        refusal = as_writer.fails("upsertEntry", entry=request)
        assert (refusal.status, refusal.code) == (403, "notAllowed")
        assert refusal.details["field"] == field
    assert field not in as_writer("getEntry", id="mine")["entry"]


def test_a_replacement_keeps_guarded_fields_that_it_leaves_out(
    as_writer: Door, as_curator: Door, entry: EntryMaker
) -> None:
    as_curator("upsertEntry", entry=entry(id="shown", pinned=True))

    as_writer("upsertEntry", entry=entry(id="shown"))
    assert as_writer("getEntry", id="shown")["entry"]["pinned"] is True

    as_curator("upsertEntry", entry=entry(id="shown"))
    assert "pinned" not in as_writer("getEntry", id="shown")["entry"]


@pytest.mark.parametrize(("tier", "door"), [("curated", "as_writer"), ("canonical", "as_curator")])
def test_an_entry_trusted_beyond_the_caller_is_not_edited(
    request: pytest.FixtureRequest, as_admin: Door, entry: EntryMaker, tier: str, door: str
) -> None:
    caller: Door = request.getfixturevalue(door)
    as_admin("upsertEntry", entry=entry(id="trusted", curationTier=tier))

    for refusal in (
        caller.fails("upsertEntry", entry=entry(id="trusted")),
        caller.fails("patchEntry", id="trusted", patch={"tags": ["x"]}),
        caller.fails("deleteEntry", id="trusted"),
    ):
        assert (refusal.status, refusal.code) == (403, "notAllowed")


@pytest.mark.attack(13)
@pytest.mark.parametrize("project", ["projB", "closed", "absent", 7])
def test_an_entry_of_another_project_is_refused(
    as_writer: Door, entry: EntryMaker, project: Any
) -> None:
    refusal = as_writer.fails("upsertEntry", entry=entry(project=project))

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"] == "entry.project"


@pytest.mark.parametrize("entry_id", ["projB:x", "shared:x", "absent:x", 7, "projA:a b", "a/b"])
def test_an_id_that_is_foreign_or_malformed_is_refused(
    as_writer: Door, entry: EntryMaker, entry_id: Any
) -> None:
    refusal = as_writer.fails("upsertEntry", entry=entry(id=entry_id))

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"] in ("entry.id", "id")


def test_the_project_is_accepted_when_it_is_the_endpoints(
    as_writer: Door, entry: EntryMaker
) -> None:
    answer = as_writer("upsertEntry", project="PROJa", entry=entry(project="proja"))

    assert answer["id"].startswith("projA:")


def test_the_agent_that_wrote_an_entry_comes_from_the_header(
    house: House, entry: EntryMaker
) -> None:
    caller = house.gate.authenticate("qms_key_of_the_writer_for_tests")

    answer = house.gate.call(
        caller, "projA", "upsertEntry", {"entry": entry()}, agent_id="ai:claude-code"
    )

    stored = house.door("reader")("getEntry", id=answer.id)["entry"]
    assert stored["agentId"] == "ai:claude-code"
