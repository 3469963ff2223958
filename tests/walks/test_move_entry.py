"""moveEntry and copyEntry, through the application."""

from typing import Any

import pytest

from qms.app.jobs import Jobs
from qms.features.transfer.moves_file import Move, Moves
from qms.memory.access import AccessTier
from qms.memory.changes import ChangeSet
from qms.store.options import Origin
from tests.support.house import Clock, Door, House


def stored(door: Door, local: str = "seed", **entry: Any) -> str:
    made: str = door("upsertEntry", entry={"id": local, "kind": "note", "body": local, **entry})[
        "id"
    ]
    return made


def run_jobs(house: House) -> None:
    for project in ("projA", "projB"):
        house.store(project)
    Jobs(house.catalog, lambda: house.configuration.settings, house.clock).tick()


def lives(door: Door, entry_id: str) -> bool:
    return door.send("getEntry", {"id": entry_id}).status == 200


def test_a_moved_entry_lives_in_the_other_project_as_it_was(
    house: House, as_writer: Door, clock: Clock
) -> None:
    made = stored(
        as_writer, tags=["a"], metadata={"x": 1}, agentId="ai:a", retention="mid", priority=7
    )
    before = as_writer("getEntry", id=made)["entry"]
    clock.move(hours=1)
    answer = as_writer("moveEntry", id=made, toProject="projB")
    after = as_writer.at("projB")("getEntry", id="seed")

    assert answer == {"id": "projB:seed", "version": after["version"]}
    assert after["entry"] == {
        **before,
        "id": "projB:seed",
        "project": "projB",
        "metadata": {"x": 1, "movedFrom": made},
    }
    assert not lives(as_writer, made)
    (archived,) = as_writer("listArchive", filter={"reason": "moved"})["items"]
    assert archived["id"] == made
    assert not house.store().features.get(Moves)


def test_a_copy_leaves_the_entry_where_it_is_and_is_made_once(
    house: House, as_writer: Door
) -> None:
    made = stored(as_writer)
    first = as_writer("copyEntry", id=made, toProject="projB")
    sequence = house.store("projB").view.sequence

    assert as_writer("copyEntry", id=made, toProject="PROJb") == first
    assert house.store("projB").view.sequence == sequence
    assert lives(as_writer, made)
    copied = as_writer.at("projB")("getEntry", id=first["id"])["entry"]
    assert copied["metadata"] == {"copiedFrom": made}


@pytest.mark.parametrize("command", ["moveEntry", "copyEntry"])
@pytest.mark.parametrize("to_id", ["other", "projB:other", "PROJB:other"])
def test_another_id_can_be_asked_for(as_writer: Door, command: str, to_id: str) -> None:
    made = stored(as_writer)

    assert as_writer(command, id=made, toProject="projB", toId=to_id)["id"] == "projB:other"


@pytest.mark.parametrize("command", ["moveEntry", "copyEntry"])
@pytest.mark.parametrize("to_id", ["a b", "projA:x", "a/b", "x" * 129])
def test_an_id_that_is_none_is_refused_and_nothing_moves(
    house: House, as_writer: Door, command: str, to_id: str
) -> None:
    made = stored(as_writer)
    before = house.store("projB").view

    refused = as_writer.fails(command, id=made, toProject="projB", toId=to_id)
    assert refused.code == "invalidInput"
    assert (house.store("projB").view, house.store().features.get(Moves).left_over()) == (
        before,
        [],
    )
    assert lives(as_writer, made)


@pytest.mark.parametrize("command", ["moveEntry", "copyEntry"])
def test_an_id_that_is_taken_is_a_conflict(house: House, as_writer: Door, command: str) -> None:
    made = stored(as_writer)
    stored(as_writer.at("projB"), body="somebody else's")

    assert as_writer.fails(command, id=made, toProject="projB").code == "conflict"
    assert lives(as_writer, made)
    assert not house.store().features.get(Moves)


def test_a_stale_version_moves_nothing(as_writer: Door) -> None:
    made = stored(as_writer)

    refused = as_writer.fails("moveEntry", id=made, toProject="projB", ifVersion="0" * 16)
    assert refused.code == "conflict"
    assert lives(as_writer, made)
    assert not lives(as_writer.at("projB"), "projB:seed")


@pytest.mark.attack(12)
@pytest.mark.parametrize("command", ["moveEntry", "copyEntry"])
def test_a_closed_target_answers_like_an_absent_one(
    house: House, as_writer: Door, command: str
) -> None:
    made = stored(as_writer)
    closed, absent = (
        as_writer.send(command, {"id": made, "toProject": slug}) for slug in ("closed", "absent")
    )

    assert (closed.status, closed.body) == (absent.status, absent.body)
    assert closed.status == 404
    assert house.catalog.loaded("closed") is None


def test_a_target_that_the_caller_only_reads_is_refused(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    house.reconfigure(lambda text: text + '\n[permissions.projB]\nwriter = "reader"\n')

    refused = as_writer.fails("moveEntry", id=made, toProject="projB")
    assert (refused.code, refused.details["needs"]) == ("notAllowed", "writer")


def test_its_own_project_is_no_target(as_writer: Door) -> None:
    made = stored(as_writer)

    assert as_writer.fails("moveEntry", id=made, toProject="PROJA").details["field"] == "toProject"


def test_trust_is_kept_or_nothing_moves(house: House, as_admin: Door, as_curator: Door) -> None:
    made = stored(as_admin, curationTier="curated")
    house.reconfigure(lambda text: text + '\n[permissions.projB]\ncurator = "writer"\n')

    refused = as_curator.fails("moveEntry", id=made, toProject="projB")
    assert (refused.code, refused.details["field"]) == ("notAllowed", "curationTier")
    assert lives(as_curator, made)
    assert house.door("writer").fails("moveEntry", id=made, toProject="projB").code == "notAllowed"
    as_admin("moveEntry", id=made, toProject="projB")
    moved = as_admin.at("projB")("getEntry", id="projB:seed")["entry"]
    assert moved["curationTier"] == "curated"


def test_relations_to_it_follow_and_its_own_stay(house: House, as_admin: Door) -> None:
    made = stored(as_admin)
    friend = stored(as_admin, "friend", relations=[{"type": "ref", "targetId": made}])
    trusted = stored(
        as_admin,
        "trusted",
        curationTier="canonical",
        relations=[{"type": "ref", "targetId": made}],
    )
    as_admin("linkEntries", sourceId=made, targetId=friend)
    house.door("writer")("moveEntry", id=made, toProject="projB")

    def targets(door: Door, entry_id: str) -> list[str]:
        relations = door("getEntry", id=entry_id)["entry"]["relations"]
        return [one["targetId"] for one in relations]

    assert targets(as_admin, friend) == ["projB:seed"]
    assert targets(as_admin, trusted) == [made]  # a writer may not edit it: the relation sleeps
    assert targets(as_admin.at("projB"), "projB:seed") == [friend]


def test_the_quota_and_the_policy_of_the_target_count(house: House, as_writer: Door) -> None:
    made = stored(as_writer, body="the key is AKIAIOSFODNN7EXAMPLE")
    house.reconfigure(
        lambda text: text.replace('slug = "projB"', 'slug = "projB"\nsecrets = "refuse"')
    )
    assert as_writer.fails("moveEntry", id=made, toProject="projB").code == "invalidInput"

    house.reconfigure(
        lambda text: text.replace('secrets = "refuse"', 'secrets = "warn"\nmaxEntries = 1')
    )
    stored(as_writer.at("projB"), "first")
    assert as_writer.fails("moveEntry", id=made, toProject="projB").code == "tooLarge"
    assert lives(as_writer, made)
    assert not house.store().features.get(Moves)


def interrupted(house: House, source_id: str) -> None:
    """Leave a move as a crash between the two stores does."""
    house.door("writer")("copyEntry", id=source_id, toProject="projB")
    copied = house.store("projB").view.get("projB:seed")
    assert copied is not None
    document = copied.document()
    document["metadata"] = {"movedFrom": source_id}
    origin = Origin(
        command="moveEntry", user="writer", at_utc=house.clock.now, right=AccessTier.ADMIN
    )
    house.store("projB").commit(origin, lambda draft: draft.put(document))
    with house.store().features.get(Moves).under_way(_move(house, source_id)):
        pass


def _move(house: House, source_id: str) -> Move:
    return Move(
        source_id=source_id,
        target_id="projB:seed",
        user="writer",
        access="writer",
        at_utc=house.clock.now,
    )


def test_what_a_crash_left_of_a_move_is_finished(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    interrupted(house, made)
    run_jobs(house)

    assert not lives(as_writer, made)
    assert lives(as_writer.at("projB"), "projB:seed")
    assert not house.store().features.get(Moves)


def test_a_change_before_it_is_finished_moves_along(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    interrupted(house, made)
    as_writer("patchEntry", id=made, patch={"tags": ["late"]})
    run_jobs(house)

    assert not lives(as_writer, made)
    assert as_writer.at("projB")("getEntry", id="projB:seed")["entry"]["tags"] == ["late"]


def test_an_intent_without_anything_in_the_target_is_dropped(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    with house.store().features.get(Moves).under_way(_move(house, made)):
        run_jobs(house)
        assert house.store().features.get(Moves)  # somebody is at work on it
    run_jobs(house)

    assert lives(as_writer, made)
    assert not house.store().features.get(Moves)


def test_a_new_entry_under_the_old_id_is_not_taken_for_the_moved_one(
    house: House, as_writer: Door, clock: Clock
) -> None:
    made = stored(as_writer)
    as_writer("moveEntry", id=made, toProject="projB")
    clock.move(seconds=1)
    stored(as_writer, body="new")
    with house.store().features.get(Moves).under_way(_move(house, made)):
        pass
    run_jobs(house)

    assert as_writer("getEntry", id=made)["entry"]["body"] == {"text": "new"}
    assert not house.store().features.get(Moves)


def change_during_the_move(house: House, patch: dict[str, Any]) -> None:
    """Patch the source, as an admin, once the entry is in the target and before it leaves."""
    waiting = [patch]

    def follow(_sequence: int, _changes: ChangeSet) -> None:
        if waiting:
            house.door("admin")("patchEntry", id="projA:seed", patch=waiting.pop())

    house.store("projB").subscribe(follow)


@pytest.mark.attack(82)
@pytest.mark.parametrize("guard", [{"curationTier": "canonical"}, {"isPermanent": True}])
@pytest.mark.parametrize("tier_there", ["writer", "admin"])
def test_an_entry_that_is_guarded_meanwhile_does_not_move(
    house: House, as_writer: Door, guard: dict[str, Any], tier_there: str
) -> None:
    made = stored(as_writer)
    house.reconfigure(lambda text: text + f'\n[permissions.projB]\nwriter = "{tier_there}"\n')
    change_during_the_move(house, guard)

    assert as_writer.fails("moveEntry", id=made, toProject="projB").code == "notAllowed"
    run_jobs(house)
    assert as_writer("getEntry", id=made)["entry"].items() >= guard.items()
    assert not lives(as_writer.at("projB"), "projB:seed")
    assert not house.store().features.get(Moves)


def test_an_entry_that_changes_meanwhile_moves_as_it_is_then(house: House, as_writer: Door) -> None:
    made = stored(as_writer)
    change_during_the_move(house, {"tags": ["late"]})
    as_writer("moveEntry", id=made, toProject="projB")

    assert not lives(as_writer, made)
    assert as_writer.at("projB")("getEntry", id="projB:seed")["entry"]["tags"] == ["late"]


@pytest.mark.attack(82)
@pytest.mark.parametrize("guarded", ["projA", "projB"])
def test_what_a_crash_left_is_not_finished_over_an_entry_that_is_guarded_by_then(
    house: House, as_writer: Door, guarded: str
) -> None:
    made = stored(as_writer)
    interrupted(house, made)
    admin = house.door("admin", guarded)
    as_writer("patchEntry", id=made, patch={"tags": ["late"]})
    admin("patchEntry", id=f"{guarded}:seed", patch={"curationTier": "canonical"})
    before = [house.store(one).view.records for one in ("projA", "projB")]
    run_jobs(house)

    assert [house.store(one).view.records for one in ("projA", "projB")] == before
    assert not house.store().features.get(Moves)


def test_a_move_given_up_leaves_what_was_in_the_target_before(house: House, as_admin: Door) -> None:
    made = stored(as_admin)
    as_admin("moveEntry", id=made, toProject="projB")
    as_admin("restoreEntry", id=made)
    as_admin("patchEntry", id=made, patch={"tags": ["new"]})
    change_during_the_move(house, {"isPermanent": True})

    assert as_admin.fails("moveEntry", id=made, toProject="projB").code == "conflict"
    assert lives(as_admin, made)
    assert lives(as_admin.at("projB"), "projB:seed")
    assert not house.store().features.get(Moves)
