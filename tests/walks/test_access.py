"""The rights table, generated: every command, every tier, own, other, shared and closed project."""

from typing import Any

import pytest

from qms.app.table import TABLE
from qms.memory.access import AccessTier
from tests.support.asgi import AsgiClient
from tests.support.house import USERS, House, key_of

NAMES = [command.name for command in TABLE]

REQUESTS: dict[str, dict[str, Any]] = {
    "getEntry": {"id": "seed"},
    "summaries": {"ids": ["seed"]},
    "upsertEntry": {"entry": {"kind": "note", "body": "new"}},
    "patchEntry": {"id": "seed", "patch": {"tags": ["x"]}},
    "deleteEntry": {"id": "seed"},
    "bulkImport": {"entries": [{"kind": "note", "body": "new"}]},
    "relatedEntries": {"id": "seed"},
    "searchEntries": {"query": {"text": "seed"}},
    "remember": {"text": "new"},
    "recall": {"query": "seed"},
    "promoteEntry": {"id": "seed"},
    "forgetEntries": {"pattern": "nothing has these words"},
    "linkEntries": {"sourceId": "seed", "targetId": "other"},
    "unlinkEntries": {"sourceId": "seed", "targetId": "other"},
    "getLinks": {"id": "seed"},
    "resolveContradiction": {"winner": "seed", "loser": "other"},
    "consolidateEntries": {"ids": ["seed", "other"], "dryRun": True},
    "moveEntry": {"id": "seed", "toProject": "absent"},
    "copyEntry": {"id": "seed", "toProject": "absent"},
    "restoreEntry": {"id": "seed"},
    "undoForget": {"undoId": "nothing"},
    "acceptProposals": {"ids": ["nothing"]},
    "dismissProposals": {"ids": ["nothing"]},
    "history": {"id": "seed"},
    "eraseEntry": {"id": "seed", "dryRun": True},
    "purgeArchive": {"olderThanDays": 90},
    "syncRead": {"ids": ["seed"]},
    "syncApply": {"changes": []},
    "syncBase": {"peer": "0" * 32},
    "create_entities": {"entities": []},
    "create_relations": {"relations": []},
    "add_observations": {"observations": []},
    "delete_entities": {"entityNames": ["nobody"]},
    "delete_observations": {"deletions": []},
    "delete_relations": {"relations": []},
    "search_nodes": {"query": "nobody"},
    "open_nodes": {"names": ["nobody"]},
    "expandQuery": {"query": "seed"},
    "detectContradiction": {"idA": "seed", "idB": "other"},
    "autoTag": {"id": "seed"},
    "extractMemories": {"text": "We use seeds."},
    "memory_store": {"title": "new", "content": "new"},
    "memory_recall": {"context": "seed", "format": "json"},
    "memory_consolidate": {"ids": ["gone", "also gone"], "title": "Both"},
    "memory_expand_query": {"query": "seed"},
    "memory_auto_tag": {"id": "seed"},
    "storeDocument": {"content": "# Seed\n\nA document."},
    "getDocument": {"id": "paper"},
    "analyzeDocument": {"id": "paper"},
    "documentRefs": {"documentId": "paper"},
    "memory_detect_contradiction": {"id_a": "seed", "id_b": "other"},
    "memory_search": {"query": "seed", "format": "json"},
    "memory_list": {"format": "json"},
    "memory_get": {"id": "seed"},
    "memory_delete": {"id": "seed"},
    "memory_promote": {"id": "seed"},
    "memory_forget": {"pattern": "nothing has these words"},
    "memory_update": {"id": "seed", "priority": 9},
    "memory_link": {"source_id": "seed", "target_id": "other"},
    "memory_get_links": {"id": "seed"},
    "memory_archive_restore": {"id": "seed"},
    "memory_archive_purge": {"older_than_days": 90},
}

NEEDS_ENTRIES = (
    *("restoreEntry", "undoForget", "moveEntry", "copyEntry"),
    *("memory_archive_restore", "memory_consolidate"),
)
"""Commands whose requests above name entries that are not there."""

LEAST = {
    "listEntries": "reader",
    "getEntry": "reader",
    "upsertEntry": "writer",
    "patchEntry": "writer",
    "deleteEntry": "writer",
    "searchEntries": "reader",
    "listCurated": "reader",
    "coldStart": "reader",
    "relatedEntries": "reader",
    "bulkImport": "writer",
    "backupStore": "admin",
    "health": "reader",
    "describe": "reader",
    "getUsageDoc": "reader",
    "remember": "writer",
    "recall": "reader",
    "promoteEntry": "writer",
    "forgetEntries": "writer",
    "undoForget": "curator",
    "history": "curator",
    "eraseEntry": "admin",
    "linkEntries": "writer",
    "unlinkEntries": "writer",
    "getLinks": "reader",
    "findDuplicates": "reader",
    "listContradictions": "reader",
    "listProposals": "reader",
    "acceptProposals": "writer",
    "dismissProposals": "writer",
    "resolveContradiction": "curator",
    "consolidateEntries": "writer",
    "autoConsolidate": "writer",
    "moveEntry": "writer",
    "copyEntry": "writer",
    "stats": "reader",
    "namespaces": "reader",
    "capabilities": "reader",
    "listArchive": "reader",
    "restoreEntry": "curator",
    "purgeArchive": "admin",
    "archiveStats": "reader",
    "gc": "writer",
    "expandQuery": "reader",
    "detectContradiction": "reader",
    "autoTag": "writer",
    "extractMemories": "reader",
    "summaries": "reader",
    "storeDocument": "writer",
    "getDocument": "reader",
    "analyzeDocument": "reader",
    "documentRefs": "reader",
    "validateRefs": "writer",
    "reloadStore": "admin",
    "rebuildIndexes": "admin",
    "acceptHeld": "admin",
    "rejectHeld": "admin",
    "listProblems": "admin",
    "listConflicts": "admin",
    "dismissConflicts": "admin",
    "verifyStore": "admin",
    "syncState": "admin",
    "syncRead": "admin",
    "syncApply": "admin",
    "syncBase": "admin",
    "create_entities": "writer",
    "create_relations": "writer",
    "add_observations": "writer",
    "delete_entities": "writer",
    "delete_observations": "writer",
    "delete_relations": "writer",
    "read_graph": "reader",
    "search_nodes": "reader",
    "open_nodes": "reader",
    "memory_store": "writer",
    "memory_recall": "reader",
    "memory_consolidate": "writer",
    "memory_expand_query": "reader",
    "memory_auto_tag": "writer",
    "memory_detect_contradiction": "reader",
    "memory_search": "reader",
    "memory_list": "reader",
    "memory_get": "reader",
    "memory_delete": "writer",
    "memory_promote": "writer",
    "memory_forget": "writer",
    "memory_update": "writer",
    "memory_link": "writer",
    "memory_get_links": "reader",
    "memory_stats": "reader",
    "memory_capabilities": "reader",
    "memory_archive_list": "reader",
    "memory_archive_restore": "curator",
    "memory_archive_purge": "admin",
    "memory_archive_stats": "reader",
}
"""The design's table, written down again so that the code cannot quietly change it."""


@pytest.fixture
def seeded(house: House) -> House:
    for project in ("projA", "projB", "shared"):
        for name in ("seed", "other"):
            house.door("writer", project)(
                "upsertEntry", entry={"id": name, "kind": "note", "body": name}
            )
        house.door("writer", project)("storeDocument", content="A paper.", id="paper")
    return house


@pytest.mark.attack(8)
def test_the_table_has_exactly_the_commands_and_tiers_of_the_design() -> None:
    assert {command.name: command.least.label for command in TABLE} == LEAST


@pytest.mark.attack(8)
@pytest.mark.parametrize("name", NAMES)
def test_each_tier_may_call_exactly_what_the_table_says(seeded: House, name: str) -> None:
    needed = AccessTier.from_label(LEAST[name])
    for user in USERS:
        for project in ("projA", "projB", "shared"):
            if name in ("deleteEntry", "memory_delete"):
                seeded.door("admin", project)(
                    "upsertEntry", entry={"id": "seed", "kind": "note", "body": "again"}
                )
            answer = seeded.door(user, project).send(name, REQUESTS.get(name, {}))
            if AccessTier.from_label(user) >= needed:
                ours = ("conflict", "notFound") if name in NEEDS_ENTRIES else ("conflict",)
                assert answer.status == 200 or answer.json["error"]["code"] in ours
            else:
                assert (answer.status, answer.json["error"]["code"]) == (403, "notAllowed")
                assert answer.json["error"]["details"]["needs"] == needed.label


@pytest.mark.attack(7)
def test_a_reader_changes_nothing_with_any_writing_command(seeded: House) -> None:
    before = seeded.store().view

    for command in TABLE:
        if not command.read_only:
            refusal = seeded.door("reader").fails(command.name, **REQUESTS.get(command.name, {}))
            assert refusal.code == "notAllowed"

    assert seeded.store().view is before


@pytest.mark.attack(8)
@pytest.mark.parametrize("name", [*NAMES, "noSuchCommand"])
def test_a_closed_project_answers_byte_for_byte_like_one_that_does_not_exist(
    house: House, name: str
) -> None:
    for user in USERS:
        for request in (REQUESTS.get(name, {}), {"unknown": 1}, {"project": "closed"}):
            closed = house.door(user, "closed").send(name, request)
            absent = house.door(user, "absent").send(name, request)
            assert closed.status == absent.status == 404
            assert closed.body == absent.body
            assert closed.headers == absent.headers
    assert house.catalog.loaded("closed") is None


@pytest.mark.attack(8)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ([], b"{}"),
        ([("content-type", "text/plain")], b"{}"),
        ([("content-type", "application/json")], b"{"),
        ([("content-type", "application/json")], b" " * 3_000_000),
        ([("content-type", "application/json"), ("content-encoding", "gzip")], b"{}"),
        ([("content-type", "application/json"), ("x-agent-id", "a b")], b"{}"),
    ],
)
def test_whatever_else_is_wrong_a_closed_and_an_absent_project_answer_alike(
    house: House, method: str, headers: list[tuple[str, str]], body: bytes
) -> None:
    for user in ("reader", "admin"):
        sent = [("x-api-key", key_of(user)), *headers]
        for route in ("/api/v1/{}/listEntries", "/api/v1/{}/upsertEntry", "/api/v1/{}", "/mcp/{}"):
            closed, absent = (
                house.client.request(method, route.format(slug), headers=sent, chunks=[body])
                for slug in ("closed", "absent")
            )
            assert closed == absent
    assert house.catalog.loaded("closed") is None


def test_permissions_raise_and_lower_and_shut(seeded: House) -> None:
    seeded.reconfigure(
        lambda text: (
            text
            + '\n[permissions.projA]\nreader = "writer"\nwriter = "reader"\ncurator = "none"\n'
            + '[permissions.closed]\nreader = "reader"\n'
        )
    )

    assert seeded.door("reader")("upsertEntry", **REQUESTS["upsertEntry"])["created"]
    assert seeded.door("writer").fails("upsertEntry", **REQUESTS["upsertEntry"]).status == 403
    assert seeded.door("curator").fails("getEntry", id="seed").status == 404
    assert seeded.door("reader", "closed")("listEntries")["items"] == []
    assert seeded.door("admin", "closed").fails("listEntries").status == 404


def test_slugs_are_matched_without_case(house: House) -> None:
    answer = house.door("writer", "PROJa")("upsertEntry", **REQUESTS["upsertEntry"])

    assert answer["id"].startswith("projA:")


@pytest.mark.parametrize("project", ["projB", "closed", "absent", "", None, 7])
def test_another_project_in_the_request_is_refused_whether_it_exists_or_not(
    house: House, project: Any
) -> None:
    refusal = house.door("reader").fails("listEntries", project=project)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.message == "project: must be projA, the project of this endpoint"


def test_an_unknown_command_is_not_found(house: House) -> None:
    refusal = house.door("admin").fails("dropEverything")

    assert (refusal.status, refusal.code) == (404, "notFound")


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_key_of_a_request_is_named(house: House, name: str) -> None:
    refusal = house.door("admin").fails(name, **REQUESTS.get(name, {}), colour="blue")

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"] == "colour"


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_each_command_is_a_request_that_it_understands(
    seeded: House, name: str
) -> None:
    example = next(command.example for command in TABLE if command.name == name)

    answer = seeded.door("admin").send(name, example)

    assert answer.status in (200, 404, 409)


@pytest.mark.attack(30)
@pytest.mark.parametrize(
    "slug",
    [
        "..",
        "%2e%2e%2f",
        "..%5c",
        "a/b",
        "a%2fb",
        "C:",
        "con",
        "a.",
        "a%0a",
        "projA%0a",
        "%00",
        "a" * 65,
        "%D0%B0",
        "proj%D0%90",
    ],
)
def test_a_slug_that_is_none_reaches_no_file(house: House, client: AsgiClient, slug: str) -> None:
    before = sorted(path.as_posix() for path in house.root.rglob("*"))

    answer = client.post(f"/api/v1/{slug}/listEntries", {}, key=key_of("admin"))

    assert answer.status in (400, 404)
    assert answer.json["error"]["code"] in ("notFound", "invalidInput")
    assert sorted(path.as_posix() for path in house.root.rglob("*")) == before
