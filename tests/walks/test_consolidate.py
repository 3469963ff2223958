"""consolidateEntries and autoConsolidate, through the application."""

import threading
from typing import Any

import pytest

from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import NotFoundError
from qms.memory.validation import instant_text
from tests.conftest import EntryMaker
from tests.support.house import Clock, Door, House
from tests.walks.test_contradictions import embed_all


def stored(door: Door, **entry: Any) -> str:
    made: str = door("upsertEntry", entry={"kind": "note", **entry})["id"]
    return made


def three(door: Door) -> list[str]:
    return [
        stored(door, body="Deploys run at night", tags=["ops", "night"], priority=7),
        stored(door, title="Who deploys", body="Kim does", tags=["ops"], confidence=0.5),
        stored(door, body="The rollback takes a minute", tags=["rollback"], kind="fact"),
    ]


def test_many_become_one_with_what_they_had_in_common(as_writer: Door, clock: Clock) -> None:
    ids = three(as_writer)
    answer = as_writer("consolidateEntries", ids=ids, title="Deploying")
    made = as_writer("getEntry", id=answer["id"])

    assert (answer["version"], answer["consolidated"]) == (made["version"], 3)
    assert answer["method"] == "extractive"
    entry = made["entry"]
    assert (entry["kind"], entry["title"]) == ("note", "Deploying")
    assert entry["body"]["text"].split("\n") == [
        "- Deploys run at night",
        "- Who deploys: Kim does",
        "- The rollback takes a minute",
    ]
    assert entry["tags"] == ["ops", "night", "rollback"]
    assert (entry["priority"], entry["confidence"]) == (7, 0.5)
    assert [(one["type"], one["targetId"]) for one in entry["relations"]] == [
        ("derivedFrom", entry_id) for entry_id in ids
    ]
    assert entry["source"] == {"type": "consolidation"}
    assert "ttlUtc" not in entry
    assert entry["timestamps"]["createdUtc"] == instant_text(clock.now)


def test_the_sources_are_in_the_archive_and_come_back(as_writer: Door, as_curator: Door) -> None:
    ids = three(as_writer)
    as_writer("consolidateEntries", ids=ids)
    archived = as_writer("listArchive", filter={"reason": "consolidated"})["items"]

    assert {one["id"] for one in archived} == set(ids)
    assert as_writer.fails("getEntry", id=ids[0]).code == "notFound"
    assert as_curator("restoreEntry", id=ids[0])["entry"]["id"] == ids[0]


def test_all_of_it_is_one_change(house: House, as_writer: Door) -> None:
    ids = three(as_writer)
    sequence = house.store().view.sequence
    as_writer("consolidateEntries", ids=ids)

    assert house.store().view.sequence == sequence + 1
    assert len(house.store().uncut()[-1][1].changes) == 4


def test_a_given_summary_kind_namespace_and_retention_are_taken(as_writer: Door) -> None:
    answer = as_writer(
        "consolidateEntries",
        ids=three(as_writer),
        summary="Deploying, in short",
        kind="procedure",
        namespace="ops",
        retention="mid",
    )
    entry = as_writer("getEntry", id=answer["id"])["entry"]

    assert answer["method"] == "given"
    assert entry["body"] == {"steps": ["Deploying, in short"]}
    assert (entry["namespace"], entry["retention"]) == ("ops", "mid")
    assert "ttlUtc" in entry
    assert entry["title"] == answer["title"] == "Consolidated: ops (3 memories)"


def test_the_namespace_of_all_sources_is_kept(as_writer: Door) -> None:
    ids = [stored(as_writer, body=f"Fact {number}", namespace="n") for number in range(2)]
    answer = as_writer("consolidateEntries", ids=ids)

    assert as_writer("getEntry", id=answer["id"])["entry"]["namespace"] == "n"


def test_a_long_source_is_summed_up_in_its_own_sentences(as_writer: Door) -> None:
    sentences = [
        f"Sentence number {number} tells of the harbour and its ships." for number in range(40)
    ]
    ids = [stored(as_writer, body=" ".join(sentences)), stored(as_writer, body="Short")]
    answer = as_writer("consolidateEntries", ids=ids)
    lines = as_writer("getEntry", id=answer["id"])["entry"]["body"]["text"].split("\n")

    assert lines[1] == "- Short"
    assert 20 < len(lines[0]) < 700
    assert any(sentence in lines[0] for sentence in sentences)


def test_a_hundred_long_sources_fit_into_one_entry(house: House, as_writer: Door) -> None:
    house.set_limits(textBytes=4096)
    ids = [stored(as_writer, body=f"{number} " + "東京は首都です。" * 30) for number in range(100)]
    answer = as_writer("consolidateEntries", ids=ids)

    assert answer["consolidated"] == 100
    text = as_writer("getEntry", id=answer["id"])["entry"]["body"]["text"]
    assert len(text.encode()) <= 4096
    assert len(text.split("\n")) == 100


def test_who_wrote_the_sources_is_kept_and_who_consolidated_is_the_author(
    house: House, as_writer: Door
) -> None:
    ids = [
        stored(as_writer, body="one", agentId="ai:b"),
        stored(as_writer, body="two", agentId="ai:a"),
    ]
    request = {"ids": ids}
    made = house.gate.call(LOCAL_ADMIN, "projA", "consolidateEntries", request, agent_id="ai:me")
    entry = as_writer("getEntry", id=made.id)["entry"]

    assert entry["agentId"] == "ai:me"
    assert entry["metadata"] == {"consolidatedFromAgents": ["ai:a", "ai:b"]}


def test_a_trial_run_changes_nothing(house: House, as_writer: Door) -> None:
    ids = three(as_writer)
    before = house.store().view
    answer = as_writer("consolidateEntries", ids=ids, dryRun=True)

    assert (answer["id"], answer["version"], answer["consolidated"]) == (None, None, 3)
    assert house.store().view is before


@pytest.mark.parametrize("ids", [[], ["a"], ["a", "a"], ["a", "projA:a"], ["a"] * 101])
def test_fewer_than_two_or_more_than_a_hundred_are_refused(as_writer: Door, ids: Any) -> None:
    stored(as_writer, id="a", body="a")

    assert as_writer.fails("consolidateEntries", ids=ids).details["field"] == "ids"


def test_with_one_source_missing_none_goes(house: House, as_writer: Door) -> None:
    ids = three(as_writer)
    before = house.store().view

    assert as_writer.fails("consolidateEntries", ids=[*ids, "absent"]).code == "notFound"
    assert as_writer.fails("consolidateEntries", ids=[*ids, "projB:x"]).code == "notFound"
    assert house.store().view is before


@pytest.mark.parametrize(
    ("field", "code", "least"),
    [
        ({"curationTier": "curated"}, "notAllowed", "curator"),
        ({"curationTier": "canonical"}, "notAllowed", "admin"),
        ({"isPermanent": True}, "conflict", None),
    ],
)
def test_what_the_caller_may_not_delete_is_not_consolidated(
    house: House, as_admin: Door, field: dict[str, Any], code: str, least: str | None
) -> None:
    ids = three(as_admin)
    as_admin("patchEntry", id=ids[2], patch=field)
    before = house.store().view

    assert house.door("writer").fails("consolidateEntries", ids=ids).code == "notAllowed"
    if least is None:
        assert as_admin.fails("consolidateEntries", ids=ids).code == code
        assert house.store().view is before
    else:
        assert house.door(least)("consolidateEntries", ids=ids)["consolidated"] == 3


def test_the_quota_counts_what_goes(house: House, as_writer: Door) -> None:
    ids = three(as_writer)
    house.reconfigure(lambda text: text.replace('slug = "projA"', 'slug = "projA"\nmaxEntries = 3'))

    assert as_writer("consolidateEntries", ids=ids)["consolidated"] == 3


def assert_tells(summary: str, last: str) -> None:
    assert f"- {last}" in summary.split("\n"), "the summary was made of an older version"


def keep_updating(house: House, entry_id: str, heard: list[str], begun: threading.Event) -> None:
    for number in range(200):
        begun.set()
        text = f"version {number}"
        request = {"id": entry_id, "patch": {"title": text, "body": {"text": text}}}
        try:
            house.gate.call(LOCAL_ADMIN, "projA", "patchEntry", request)
        except NotFoundError:
            return
        heard.append(text)


@pytest.mark.fault("F22")
def test_an_update_meanwhile_is_in_the_summary_or_after_it(house: House, as_writer: Door) -> None:
    for number in range(15):
        ids = [stored(as_writer, body="begins", title=f"{number}.{n}") for n in range(2)]
        as_writer("patchEntry", id=ids[0], patch={"title": "begins"})
        acknowledged, begun = ["begins"], threading.Event()
        thread = threading.Thread(target=keep_updating, args=(house, ids[0], acknowledged, begun))
        thread.start()
        begun.wait(10)
        answer = as_writer.send("consolidateEntries", {"ids": ids})
        thread.join()
        if answer.status == 200:
            made = as_writer("getEntry", id=answer.json["id"])["entry"]
            assert_tells(made["body"]["text"], acknowledged[-1])
        else:
            assert answer.json["error"]["code"] == "conflict"
            assert as_writer("getEntry", id=ids[0])["entry"]["title"] == acknowledged[-1]


@pytest.mark.fault("F22")
def test_a_summary_of_an_older_version_fails_the_check() -> None:
    with pytest.raises(AssertionError, match="older version"):
        assert_tells("- round 1\n- the other", "round 2")


def groups(door: Door, **request: Any) -> Any:
    return door("autoConsolidate", **request)


def test_entries_of_one_first_tag_and_namespace_become_one(as_writer: Door) -> None:
    ops = [stored(as_writer, body=f"ops {n}", tags=["ops", f"t{n}"]) for n in range(3)]
    other = [stored(as_writer, body=f"n {n}", tags=["ops"], namespace="n") for n in range(3)]
    few = [stored(as_writer, body=f"few {n}", tags=["few"]) for n in range(2)]
    trial = groups(as_writer, dryRun=True)
    answer = groups(as_writer)

    assert trial["consolidated"] == answer["consolidated"] == 6
    by_key = {group["key"]: group for group in answer["groups"]}
    assert {key: set(group["ids"]) for key, group in by_key.items()} == {
        "ops": set(ops),
        "n/ops": set(other),
    }
    assert by_key["ops"]["title"] == "Consolidated: ops (3 memories)"
    assert "id" not in trial["groups"][0]
    made = as_writer("getEntry", id=by_key["ops"]["id"])["entry"]
    assert made["tags"][0] == "ops"
    assert all(as_writer.send("getEntry", {"id": one}).status == 200 for one in few)


def test_what_was_consolidated_is_not_consolidated_again(as_writer: Door) -> None:
    for number in range(4):
        stored(as_writer, body=f"ops {number}", tags=["ops"])
    groups(as_writer, minCount=2)
    stored(as_writer, body="ops again", tags=["ops"])

    assert groups(as_writer, minCount=2)["groups"] == []


def test_only_short_lived_and_only_one_namespace_when_told_so(as_writer: Door) -> None:
    short = [stored(as_writer, body=f"s {n}", tags=["a"], retention="short") for n in range(2)]
    for number in range(2):
        stored(as_writer, body=f"long {number}", tags=["a"], namespace="n")
        stored(as_writer, body=f"longer {number}", tags=["a"])
    (group,) = groups(as_writer, shortOnly=True, minCount=2, dryRun=True)["groups"]
    (named,) = groups(as_writer, namespace="n", minCount=2, dryRun=True)["groups"]

    assert set(group["ids"]) == set(short)
    assert named["key"] == "n/a"


def test_trusted_pinned_and_replaced_entries_stay(as_admin: Door) -> None:
    stays = [
        stored(as_admin, body="curated", tags=["a"], curationTier="curated"),
        stored(as_admin, body="pinned", tags=["a"], pinned=True),
        stored(as_admin, body="permanent", tags=["a"], isPermanent=True),
        stored(as_admin, body="thing", tags=["a"], kind="entity"),
    ]
    for number in range(3):
        stored(as_admin, body=f"plain {number}", tags=["a"])
    (group,) = groups(as_admin)["groups"]

    assert len(group["ids"]) == 3
    assert all(as_admin.send("getEntry", {"id": one}).status == 200 for one in stays)


def test_entries_that_are_alike_become_one(house: House, as_writer: Door) -> None:
    alike = [
        stored(as_writer, body=f"the harbour log of the northern island {'x' * n}", title=f"T{n}")
        for n in range(3)
    ]
    stored(as_writer, body="Nothing of the kind is said here at all", title="Other")
    as_writer("searchEntries", query={"text": "harbour"})
    embed_all(house)
    answer = groups(as_writer, by="similarity")

    assert [set(group["ids"]) for group in answer["groups"]] == [set(alike)]


def test_more_than_a_hundred_of_a_tag_become_several(as_writer: Door, entry: EntryMaker) -> None:
    as_writer("bulkImport", entries=[entry(tags=["many"]) for _ in range(150)])
    answer = groups(as_writer)

    assert sorted(len(group["ids"]) for group in answer["groups"]) == [50, 100]
    assert answer["consolidated"] == 150


@pytest.mark.parametrize("given", [1, 0, 101, "101", "three"])
def test_a_least_number_outside_two_to_a_hundred_is_refused(as_writer: Door, given: Any) -> None:
    assert as_writer.fails("autoConsolidate", minCount=given).details["field"] == "minCount"


def test_permanent_entries_become_one_by_force_alone(as_admin: Door, as_curator: Door) -> None:
    ids = [stored(as_admin, body=f"Rule {n}", isPermanent=True) for n in (1, 2)]

    refusal = as_admin.fails("consolidateEntries", ids=ids)
    assert (refusal.status, refusal.details["field"]) == (409, "force")
    assert as_curator.fails("consolidateEntries", ids=ids, force=True).status == 403

    made = as_admin("consolidateEntries", ids=ids, force=True)
    assert made["consolidated"] == 2
    assert as_admin.fails("getEntry", id=ids[0]).status == 404
