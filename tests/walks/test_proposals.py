"""Proposals of a language model: after a write, bounded, and nothing until somebody accepts."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from qms.features.proposals.background import ATTEMPTS, MAX_WAITING, REST_S, ProposalWorker
from qms.features.proposals.proposals_file import Proposals
from tests.support.chat_endpoint import Endpoint, Step, chat_endpoint
from tests.support.house import Door, House
from tests.support.toon import read_toon

PATIENT = 1000
TAGS = json.dumps({"tags": ["backups", "restic"]})
NO_TAGS = json.dumps({"tags": []})
DENIED = json.dumps({"contradicts": True, "why": "One says restic, the other borg"})
AGREED = json.dumps({"contradicts": False, "why": ""})


@pytest.fixture
def endpoint(house: House) -> Iterator[Endpoint]:
    with chat_endpoint() as opened:
        house.reconfigure(
            lambda text: (
                f'{text}\n[llm]\nbaseUrl = "{opened.url}"\nmodel = "m"\ntimeoutSeconds = 1\n'
            )
        )
        yield opened


@pytest.fixture
def queue(house: House) -> ProposalWorker:
    return ProposalWorker(
        house.catalog,
        house.indexer,
        clock=house.clock,
        is_on=lambda: house.configuration.settings.llm.proposals,
    )


def store(door: Door, local: str, text: str, **fields: Any) -> str:
    entry = {"id": local, "kind": "fact", "body": text, **fields}
    return str(door("upsertEntry", entry=entry)["id"])


def look_at_all(queue: ProposalWorker) -> None:
    for _ in range(PATIENT):
        if queue.work() == math.inf:
            return
    raise AssertionError("the desk never comes to an end")


def proposals(door: Door, **request: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = door("listProposals", **request)["items"]
    return items


def test_tags_are_proposed_after_a_write_and_added_when_somebody_accepts(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [TAGS]
    entry_id = store(as_writer, "a", "restic makes the backups", tags=["restic"])
    assert endpoint.requests == []  # the write was answered without the model
    look_at_all(queue)

    [found] = proposals(as_writer)
    assert (found["kind"], found["entryId"], found["tags"]) == ("tags", entry_id, ["backups"])
    assert (found["model"], found["otherId"]) == ("m", None)
    assert as_writer("getEntry", id="a")["entry"]["tags"] == ["restic"]

    answer = as_writer("acceptProposals", ids=[found["id"]])
    got = as_writer("getEntry", id="a")
    assert answer == {"accepted": {entry_id: got["version"]}, "refused": []}
    assert got["entry"]["tags"] == ["restic", "backups"]
    assert proposals(as_writer) == []
    assert queue.waiting == 0  # what was accepted is not looked at again


def test_a_contradiction_is_proposed_and_stated_when_somebody_accepts(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [NO_TAGS, AGREED, NO_TAGS, DENIED]
    old = store(as_writer, "old", "Backups are made with borg every night")
    store(as_writer, "other", "Backups of the laptops are nobody's business")
    look_at_all(queue)
    endpoint.script = [NO_TAGS, DENIED, AGREED]
    new = store(as_writer, "new", "For backups of every night there is restic")
    look_at_all(queue)

    [found] = [one for one in proposals(as_writer, kind="contradiction") if one["entryId"] == new]
    assert found["why"] == "One says restic, the other borg"
    other = found["otherId"]
    assert other in (old, "projA:other")
    assert as_writer("listContradictions")["items"] == []

    as_writer("acceptProposals", ids=[found["id"]])
    stated = {"id": new, "otherId": other, "reason": "stated"}
    assert as_writer("listContradictions")["items"] == [stated]


def test_what_has_changed_since_is_proposed_no_more(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [TAGS]
    store(as_writer, "a", "restic makes the backups")
    look_at_all(queue)
    [found] = proposals(as_writer)
    as_writer("promoteEntry", id="a", retention="mid")

    assert proposals(as_writer) == []
    [refused] = as_writer("acceptProposals", ids=[found["id"]])["refused"]
    assert refused["code"] == "conflict"
    assert "tags" not in as_writer("getEntry", id="a")["entry"]


def test_a_contradiction_of_an_entry_that_has_changed_since_is_not_stated(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [NO_TAGS]
    store(as_writer, "old", "Backups are made with borg every night")
    look_at_all(queue)
    endpoint.script = [NO_TAGS, DENIED]
    store(as_writer, "new", "For backups of every night there is restic")
    look_at_all(queue)
    [found] = proposals(as_writer, kind="contradiction")
    as_writer("promoteEntry", id="new", retention="mid")

    [refused] = as_writer("acceptProposals", ids=[found["id"]])["refused"]
    assert refused["code"] == "conflict"
    assert as_writer("listContradictions")["items"] == []


def test_an_accepted_proposal_is_kept_no_longer(
    house: House, endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [TAGS]
    store(as_writer, "a", "restic makes the backups")
    look_at_all(queue)
    [found] = proposals(as_writer)

    as_writer("acceptProposals", ids=[found["id"]])

    assert house.store().features.get(Proposals).all() == []
    [refused] = as_writer("acceptProposals", ids=[found["id"]])["refused"]
    assert refused["code"] == "notFound"


def test_dismissed_and_unknown_proposals_change_nothing(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [TAGS]
    store(as_writer, "a", "restic makes the backups")
    look_at_all(queue)
    [found] = proposals(as_writer)
    rows = read_toon(as_writer.send("listProposals", {"format": "toonCompact"}).body.decode())
    assert rows.tables["proposals"].rows[0]["tags"] == "backups,restic"

    assert as_writer("dismissProposals", ids=[found["id"], "x"]) == {"dismissed": 1}
    [refused] = as_writer("acceptProposals", ids=[found["id"]])["refused"]
    assert refused["code"] == "notFound"
    assert proposals(as_writer) == []


def test_rights_count_when_a_proposal_is_accepted(
    endpoint: Endpoint, queue: ProposalWorker, as_admin: Door, as_writer: Door, as_reader: Door
) -> None:
    endpoint.script = [TAGS]
    store(as_admin, "a", "restic makes the backups", curationTier="canonical")
    look_at_all(queue)
    [found] = proposals(as_reader)

    [refused] = as_writer("acceptProposals", ids=[found["id"]])["refused"]

    assert refused["code"] == "notAllowed"
    assert as_reader.fails("acceptProposals", ids=[found["id"]]).code == "notAllowed"
    assert len(proposals(as_reader)) == 1


def test_proposals_outlive_the_server_and_not_their_file_nor_an_erasure(
    endpoint: Endpoint, queue: ProposalWorker, house: House, as_admin: Door
) -> None:
    endpoint.script = [TAGS]
    entry_id = store(as_admin, "a", "restic makes the backups")
    look_at_all(queue)
    file = house.entries_file().parent / ".qms" / "proposals.json"
    assert [one["entryId"] for one in json.loads(file.read_bytes())] == [entry_id]

    house.catalog.remove("projA")
    house.catalog.register(["projA"])
    assert len(proposals(as_admin)) == 1
    as_admin("eraseEntry", id="a")
    assert not file.exists()

    house.catalog.remove("projA")
    file.write_bytes(b"[{]")
    house.catalog.register(["projA"])
    assert proposals(as_admin) == []


@pytest.mark.parametrize("step", [500, "nonsense", '{"tags": 1}', {"cut": True}, {"hang": True}])
def test_a_model_that_fails_is_left_alone_and_proposes_nothing(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door, step: Step
) -> None:
    endpoint.script = [step]
    store(as_writer, "a", "restic makes the backups")

    waits = [queue.work() for _ in range(ATTEMPTS + 1)]

    assert waits == [*[REST_S] * ATTEMPTS, math.inf]
    assert proposals(as_writer) == []


def test_only_so_many_entries_wait_and_the_newest_are_kept(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    entries = [{"id": f"n{n}", "kind": "task", "body": f"{n}"} for n in range(MAX_WAITING + 10)]
    as_writer("bulkImport", entries=entries)
    assert queue.waiting == MAX_WAITING
    endpoint.script = [TAGS]

    look_at_all(queue)

    ids = {one["entryId"] for one in proposals(as_writer)}
    assert f"projA:n{MAX_WAITING + 9}" in ids
    assert "projA:n9" not in ids


def test_nobody_asks_a_model_that_is_not_there_or_switched_off(
    house: House, queue: ProposalWorker, as_writer: Door
) -> None:
    store(as_writer, "a", "restic makes the backups")
    assert queue.waiting == 0
    with chat_endpoint() as opened:
        house.reconfigure(
            lambda text: (
                f'{text}\n[llm]\nbaseUrl = "{opened.url}"\nmodel = "m"\nproposals = false\n'
            )
        )
        store(as_writer, "b", "borg makes the backups")
        as_writer("recall", context="backups", expand=False)
        assert (queue.waiting, opened.requests) == (0, [])


def test_a_desk_that_is_stopped_keeps_nothing_of_a_late_answer(
    endpoint: Endpoint, queue: ProposalWorker, as_writer: Door
) -> None:
    endpoint.script = [TAGS]
    store(as_writer, "a", "restic makes the backups")

    queue.stop()
    look_at_all(queue)

    assert proposals(as_writer) == []
