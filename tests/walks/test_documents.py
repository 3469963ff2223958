"""Documents, through the application: store, replace, delete, restore, find, refer."""

import base64
import hashlib
from datetime import timedelta
from typing import Any

import pytest

from qms.memory.parts import PART_OF
from qms.sandbox.worker import _find_walls, standing_walls
from tests.features.documents.conftest import DATA
from tests.support.house import Clock, Door, House

PARAGRAPHS = [
    f"Paragraph {number} tells of the {word} that stood beside the harbour for many years. " * 6
    for number, word in enumerate(("crane", "windmill", "granary", "chapel", "bakery"))
]
TEXT = "# Harbour\n\n" + "\n\n".join(PARAGRAPHS) + "\n"


def store(door: Door, text: str = TEXT, **more: Any) -> Any:
    return door("storeDocument", content=text, mime="text/markdown", id="harbour", **more)


def text_of(door: Door, document_id: str) -> str:
    text, cursor = "", None
    while True:
        page = {"size": 3, "cursor": cursor}
        answer = door("getDocument", id=document_id, include="text", page=page)
        text, cursor = text + answer["text"], answer["nextCursor"]
        if cursor is None:
            return str(text)


def test_the_joined_chunks_of_a_document_are_its_text(as_writer: Door) -> None:
    stored = store(as_writer)

    assert stored["created"]
    assert stored["id"] == "projA:harbour"
    assert stored["sha256"] == hashlib.sha256(TEXT.encode()).hexdigest()
    assert stored["chunkCount"] == len(stored["chunkIds"]) == 5
    assert text_of(as_writer, stored["id"]) == TEXT


def test_a_document_that_is_there_is_not_stored_again(house: House, as_writer: Door) -> None:
    first = store(as_writer)
    sequence = house.store().view.sequence

    again = store(as_writer)

    assert (again["created"], again["updated"]) == (False, False)
    assert again["duplicateOf"] == first["id"]
    assert again["chunkIds"] == first["chunkIds"]
    assert house.store().view.sequence == sequence


def test_the_same_content_without_an_id_is_the_same_document(as_writer: Door) -> None:
    first = as_writer("storeDocument", content=TEXT)
    again = as_writer("storeDocument", content=TEXT)

    assert again["duplicateOf"] == first["id"]


def test_chunks_that_did_not_change_keep_their_ids_and_the_others_are_archived(
    house: House, as_writer: Door
) -> None:
    first = store(as_writer)
    changed = TEXT.replace("windmill", "lighthouse")

    second = store(as_writer, changed)

    kept = set(first["chunkIds"]) & set(second["chunkIds"])
    assert second["updated"]
    assert len(kept) == 4
    assert text_of(as_writer, second["id"]) == changed
    archived = as_writer("listArchive")["items"]
    assert {one["id"] for one in archived} == set(first["chunkIds"]) - kept
    assert {one["reason"] for one in archived} == {"superseded"}
    assert len(house.store().uncut()) == 2  # one change each


def test_deleting_and_restoring_a_document_takes_its_chunks_along(
    house: House, as_writer: Door, as_curator: Door, clock: Clock
) -> None:
    store(as_writer, TEXT.replace("windmill", "lighthouse"))
    clock.move(minutes=1)
    stored = store(as_writer)
    clock.move(minutes=1)

    as_writer("deleteEntry", id="harbour")
    assert len(house.store().view) == 0
    as_curator("restoreEntry", id="harbour")

    assert text_of(as_writer, stored["id"]) == TEXT
    assert len(house.store().view) == 1 + stored["chunkCount"]  # none that was replaced before


def test_a_forgotten_document_comes_back_whole(as_writer: Door, as_curator: Door) -> None:
    stored = store(as_writer)

    forgotten = as_writer("forgetEntries", ids=["harbour"])
    as_curator("undoForget", undoId=forgotten["undoId"])

    assert text_of(as_writer, stored["id"]) == TEXT


@pytest.mark.attack(99)
def test_a_chunk_is_made_changed_and_deleted_with_its_document_only(as_admin: Door) -> None:
    chunk = store(as_admin)["chunkIds"][0]
    forged = {
        "kind": "chunk",
        "body": {"text": "forged", "ordinal": 9},
        "relations": [{"type": PART_OF, "targetId": "projA:harbour"}],
    }

    for command, request in (
        ("patchEntry", {"id": chunk, "patch": {"body": {"text": "forged"}}}),
        ("upsertEntry", {"entry": {**forged, "id": chunk}}),
        ("upsertEntry", {"entry": forged}),
        ("deleteEntry", {"id": chunk, "force": True}),
        ("linkEntries", {"sourceId": chunk, "targetId": "projA:harbour", "type": "ref"}),
    ):
        assert as_admin.fails(command, **request).code == "notAllowed", command
    imported = as_admin("bulkImport", entries=[forged, {**forged, "id": chunk}])
    assert imported["imported"] == imported["updated"] == 0
    assert as_admin.fails("copyEntry", id=chunk, toProject="projB").code == "invalidInput"


@pytest.mark.attack(99)
def test_chunks_are_guarded_as_their_document_is(
    house: House, as_writer: Door, as_curator: Door, as_admin: Door
) -> None:
    store(as_writer)
    as_admin("patchEntry", id="harbour", patch={"curationTier": "canonical"})
    before = house.store().view.records

    changed = {"content": "other", "id": "harbour"}
    assert as_writer.fails("storeDocument", **changed).code == "notAllowed"
    assert as_curator.fails("storeDocument", **changed).code == "notAllowed"
    assert as_writer.fails("deleteEntry", id="harbour").code == "notAllowed"
    assert house.store().view.records == before
    as_admin("storeDocument", **changed)
    assert house.store().view.get("projA:harbour").header.curation_tier == "canonical"  # type: ignore[union-attr]


def test_an_exported_document_can_be_imported_elsewhere_in_parts(
    house: House, as_admin: Door
) -> None:
    stored = store(as_admin)
    ids = [stored["id"], *stored["chunkIds"]]
    entries = [as_admin("getEntry", id=one)["entry"] for one in ids]
    for one in entries:
        one.pop("project", None)
        one["id"] = one["id"].replace("projA:", "projB:")
        for relation in one.get("relations", []):
            relation["targetId"] = relation["targetId"].replace("projA:", "projB:")
    other = as_admin.at("projB")

    first = other("bulkImport", entries=entries[:3])
    rest = other("bulkImport", entries=entries[3:])

    assert first["imported"] + rest["imported"] == len(entries)
    assert text_of(other, "projB:harbour") == TEXT


def test_removing_the_line_of_a_document_by_hand_archives_its_chunks(
    house: House, as_writer: Door
) -> None:
    store(as_writer)
    as_writer("upsertEntry", entry={"kind": "note", "body": "stays"})
    opened = house.store()
    opened.fold()
    path = house.entries_file()
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(
        "".join(one for one in lines if '"kind":"document"' not in one), encoding="utf-8"
    )

    opened.reload()

    assert [one.header.title for one in opened.view.records.values()] == ["stays"]
    opened.fold()
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1
    assert len(as_writer("listArchive")["items"]) == 6


def test_lists_and_the_first_look_leave_chunks_out_unless_they_are_named(as_writer: Door) -> None:
    stored = store(as_writer)

    assert [one["id"] for one in as_writer("listEntries")["items"]] == [stored["id"]]
    assert [one["id"] for one in as_writer("coldStart")["recent"]] == [stored["id"]]
    named = as_writer("listEntries", filter={"kinds": ["chunk"]})["items"]
    assert {one["id"] for one in named} == set(stored["chunkIds"])


def test_a_search_shows_at_most_two_chunks_of_a_document_with_their_place(
    as_writer: Door,
) -> None:
    store(as_writer)
    as_writer("upsertEntry", entry={"kind": "note", "body": "The harbour has a crane."})

    found = as_writer("searchEntries", query={"text": "harbour years stood", "maxResults": 10})
    named = as_writer(
        "searchEntries",
        query={"text": "harbour years stood", "maxResults": 10, "filter": {"kinds": ["chunk"]}},
    )

    chunks = [one for one in found["results"] if one["entry"]["kind"] == "chunk"]
    assert len(chunks) == 2
    assert {one["heading"] for one in chunks} == {"Harbour"}
    assert len(named["results"]) == 5


def test_a_sentence_of_a_pdf_is_found_with_its_page(as_writer: Door) -> None:
    data = base64.b64encode((DATA / "columns.pdf").read_bytes()).decode()
    stored = as_writer("storeDocument", data=data, title="Proceedings")

    found = as_writer(
        "searchEntries", query={"text": '"observation numbered 403 was recorded"', "maxResults": 3}
    )

    assert stored["warnings"] == []
    texts = {one["entry"]["id"]: one["page"] for one in found["results"] if "page" in one}
    holders = [one for one in texts if "numbered 403" in _text(as_writer, one)]
    assert [texts[one] for one in holders] == [3]


def _text(door: Door, chunk_id: str) -> str:
    return str(door("getEntry", id=chunk_id)["entry"]["body"]["text"])


def test_a_given_sha256_is_compared_and_never_trusted(as_writer: Door) -> None:
    refused = as_writer.fails("storeDocument", content="text", sha256="0" * 64)

    assert (refused.code, refused.details["field"]) == ("invalidInput", "sha256")


@pytest.mark.parametrize(
    "request_", [{}, {"content": "a", "data": "YQ=="}, {"data": "no base64!"}, {"path": "a.md"}]
)
def test_a_request_without_one_usable_source_is_refused(
    as_writer: Door, request_: dict[str, Any]
) -> None:
    assert as_writer.fails("storeDocument", **request_).code in {"invalidInput", "notFound"}


def test_a_secret_in_a_chunk_is_told(as_writer: Door) -> None:
    secret = "AKIA" + "Q3EGRIWJ7ZXTPL5M"

    stored = as_writer("storeDocument", content=f"# Keys\n\nThe key is {secret} for now.")

    assert any("seems to hold" in one for one in stored["warnings"])


def test_references_are_listed_and_repaired_by_their_text(as_writer: Door) -> None:
    first = store(as_writer)
    chunk = first["chunkIds"][1]
    relation = {"type": "ref", "targetId": first["id"], "metadata": {"chunkId": chunk}}
    note = as_writer("upsertEntry", entry={"kind": "note", "body": "n", "relations": [relation]})

    refs = as_writer("documentRefs", documentId="harbour")["refs"]
    assert [(one["entryId"], one["chunkId"]) for one in refs] == [(note["id"], chunk)]
    assert as_writer("documentRefs", entryId=note["id"])["refs"] == refs

    # Larger chunks hold the text of the smaller ones.
    store(as_writer, options={"chunkSize": 2000})
    broken = as_writer("validateRefs", documentId="harbour")
    repaired = as_writer("validateRefs", repair=True)

    assert [one["chunkId"] for one in broken["broken"]] == [chunk]
    assert (broken["repaired"], repaired["repaired"]) == (0, 1)
    after = as_writer("documentRefs", entryId=note["id"])["refs"][0]["chunkId"]
    assert as_writer("getEntry", id=after)["entry"]["kind"] == "chunk"
    assert as_writer("validateRefs")["broken"] == []


def test_references_to_a_shared_document_are_listed_in_the_project_that_has_them(
    house: House,
) -> None:
    stored = store(house.door("writer", "shared"))
    targets = [stored["id"], stored["chunkIds"][0]]
    relations = [{"type": "ref", "targetId": one} for one in targets]
    door = house.door("writer")
    note = door("upsertEntry", entry={"kind": "note", "body": "n", "relations": relations})

    listed = door("documentRefs", documentId=stored["id"])["refs"]

    assert [one["entryId"] for one in listed] == [note["id"]] * 2
    assert [one["documentId"] for one in listed] == [stored["id"]] * 2
    assert door("documentRefs", entryId=note["id"])["refs"] == listed
    assert house.door("writer", "shared")("documentRefs", documentId="harbour")["refs"] == []


def test_references_to_a_shared_document_are_repaired_in_the_project_that_has_them(
    house: House,
) -> None:
    shared, door = house.door("writer", "shared"), house.door("writer")
    first = store(shared)
    chunk = first["chunkIds"][1]
    relation = {"type": "ref", "targetId": first["id"], "metadata": {"chunkId": chunk}}
    own = shared("upsertEntry", entry={"kind": "note", "body": "s", "relations": [relation]})
    note = door("upsertEntry", entry={"kind": "note", "body": "n", "relations": [relation]})
    store(shared, options={"chunkSize": 2000})

    found = door("validateRefs", documentId=first["id"])
    repaired = door("validateRefs", repair=True)

    assert [(one["entryId"], one["chunkId"]) for one in found["broken"]] == [(note["id"], chunk)]
    assert (found["checked"], repaired["repaired"]) == (1, 1)
    assert door("validateRefs")["broken"] == []
    (after,) = door("documentRefs", entryId=note["id"])["refs"]
    assert door("getEntry", id=after["chunkId"])["entry"]["kind"] == "chunk"
    left = shared("validateRefs")["broken"]
    assert [one["entryId"] for one in left] == [own["id"]]


def test_a_document_of_another_project_is_not_validated(house: House) -> None:
    stored = store(house.door("writer", "projB"))

    assert house.door("writer").fails("validateRefs", documentId=stored["id"]).code == "notFound"


def test_an_expired_entry_refers_to_nothing(house: House, as_writer: Door) -> None:
    relation = {"type": "ref", "targetId": store(as_writer)["id"]}
    ends = (house.clock.now + timedelta(hours=1)).isoformat()
    entry = {"kind": "note", "body": "n", "relations": [relation], "ttlUtc": ends}
    as_writer("upsertEntry", entry=entry)
    before = as_writer("documentRefs", documentId="harbour")["refs"]

    house.clock.move(hours=2)

    assert len(before) == 1
    assert as_writer("documentRefs", documentId="harbour")["refs"] == []


def test_a_document_is_analysed(as_writer: Door) -> None:
    store(as_writer)
    note = as_writer("upsertEntry", entry={"kind": "note", "body": "A crane at the harbour"})

    found = as_writer("analyzeDocument", id="harbour")

    assert found["summary"].startswith("Paragraph 0 tells of the crane")
    assert (found["chunkCount"], found["bytes"]) == (5, len(TEXT))
    assert note["id"] in [one["entry"]["id"] for one in found["related"]]


@pytest.mark.attack(99)
def test_the_server_reads_paths_below_its_document_roots_only(
    house: House, as_writer: Door, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tmp_path = tmp_path_factory.mktemp("elsewhere")
    root = tmp_path / "papers"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "a.md").write_text("# A\n\nreadable", encoding="utf-8")
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "folder").symlink_to(tmp_path)
    roots = f'slug = "projA"\ndocumentRoots = ["{root}", "{house.root}"]\n'
    house.reconfigure(lambda text: text.replace('slug = "projA"\n', roots))

    assert as_writer("storeDocument", path="inner/a.md")["created"]
    assert as_writer("storeDocument", path=str(root / "inner" / "a.md"))["created"]
    for path in (
        "../secret.md",
        "link.md",
        "folder/secret.md",
        "inner",
        "QuickMemoryServer.toml",
        str(tmp_path / "secret.md"),
        "inner/../../secret.md",
    ):
        assert as_writer.fails("storeDocument", path=path).code in {"notFound", "invalidInput"}, (
            path
        )


def test_health_names_the_walls_around_readers(as_reader: Door) -> None:
    assert as_reader("health")["sandbox"] in (None, list(standing_walls()))
    _find_walls()
    assert as_reader("health")["sandbox"] == list(standing_walls())
