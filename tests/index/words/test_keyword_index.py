"""The keyword index: what it finds, what it filters, what it survives."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tantivy import Document, Index, IndexWriter

from qms.disk.disk import Disk
from qms.index.indexed_entry import IndexDocument
from qms.index.manifest import MANIFEST_NAME
from qms.index.words import keyword_files, keyword_index
from qms.index.words.keyword_files import find_damage
from qms.index.words.keyword_index import NOTHING, KeywordIndex
from qms.index.words.query_plan import analyse
from qms.index.words.segments import open_writer
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Retention, Timestamps
from qms.memory.errors import UnavailableError
from qms.memory.filters import Filter, matches_document, matches_header
from tests.support.index_documents import NOW, index_note
from tests.support.index_files import change_manifest, flip_byte


def built(*documents: IndexDocument, folder: Path | None = None) -> KeywordIndex:
    index = KeywordIndex.open(folder, disk=Disk())
    index.rebuild(documents, 1)
    return index


def ids(index: KeywordIndex, text: str, wanted: Filter | None = None, **options: Any) -> list[str]:
    match_all = options.pop("match_all", False)
    hits = index.search(analyse(text, match_all=match_all), wanted, **options)
    return [found.removeprefix("p:") for found, _ in hits]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The servers were restarted", "restarting the server"),
        ("Die alten Häuser am Fluss sind verkauft", "Wo ist das Haus am Fluß?"),
        ("Les serveurs ont été redémarrés dans la nuit", "le serveur redémarré"),
        ("Мы переименовали новые таблицы базы данных", "новая таблица"),
        ("Zaktualizowano książki, które są w bibliotece", "książkami"),
        ("数据库连接在昨天晚上失败了", "连接失败"),
        ("昨日、東京都でデータベースを再起動した", "データベースの再起動"),
        ("猫が好きです", "猫"),
        ("한국어 문서를 저장했다", "문서"),
        ("เซิร์ฟเวอร์ล่มเมื่อวาน", "เซิร์ฟเวอร์"),
        ("यह हिन्दी भाषा है", "हिन्दी"),
    ],
)
def test_inflected_and_unspaced_words_are_found_in_many_languages(text: str, query: str) -> None:
    index = built(
        index_note("a", text), index_note("b", "Entirely different words stand in this one")
    )

    assert ids(index, query)[:1] == ["a"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("call getUserName first", "getUserName"),
        ("call getUserName first", "getusername"),
        ("call getUserName first", "user names"),
        ("call getUserName first", "get_user_name"),
        ("call get_user_name first", "getUserName"),
        ("set max_retry_count to 3", "max_retry_count"),
        ("set max_retry_count to 3", "retry"),
        ("import http.server.handlers", "http.server.handlers"),
        ("import http.server.handlers", "handlers"),
        ("ticket QMS-1234 is open", "QMS-1234"),
        ("see docs/design/spec.md", "docs/design/spec.md"),
        ("see docs/design/spec.md", "spec.md"),
        (r"see C:\logs\app.log", "app.log"),
    ],
)
def test_names_of_programs_are_found_whole_and_by_part(text: str, query: str) -> None:
    index = built(index_note("a", text), index_note("b", "the other one"))

    assert ids(index, query) == ["a"]


def test_a_whole_name_wins_over_its_parts() -> None:
    parts = index_note("parts", "the user has a name, and the user gets a name, and get it")
    index = built(parts, index_note("whole", f"get_user_name is called {'so and ' * 30}so"))

    assert ids(index, "get_user_name") == ["whole", "parts"]


def test_titles_tags_and_keywords_are_found() -> None:
    index = built(
        index_note("a", "text", title="Deployment guide"),
        index_note("b", "text", tags=("deployments",)),
        index_note("c", "text", keywords=("deployment",)),
        index_note("d", "deployment somewhere in a longer text that says other things as well"),
    )

    found = ids(index, "deployment")

    assert set(found) == {"a", "b", "c", "d"}
    assert found[-1] == "d"


def test_a_title_made_of_the_text_counts_once() -> None:
    made = index_note("made", "alpha beta", title="alpha beta")
    given_title = index_note("given", "alpha beta", title="alpha")
    index = built(made, given_title)

    assert ids(index, "alpha") == ["given", "made"]


def test_a_quoted_phrase_must_match() -> None:
    index = built(
        index_note("a", "the reload guard of the index"),
        index_note("b", "guard reload, reload guards, guard and reload"),
        index_note("c", "text", title="Reload guard"),
    )

    assert set(ids(index, '"reload guard"')) == {"a", "c"}
    assert set(ids(index, '"reload guard" of the index')) == {"a", "c"}
    assert ids(index, '"no such phrase" reload') == []


def test_a_quoted_phrase_without_spaces_must_match() -> None:
    index = built(index_note("a", "東京都に住む"), index_note("b", "京都と東京"))

    assert ids(index, "「東京都」") == ["a", "b"]
    assert ids(index, '"東京都"') == ["a"]


def test_matching_all_needs_every_content_word_in_some_field() -> None:
    index = built(
        index_note("a", "red house", title="old"),
        index_note("b", "red red red"),
        index_note("c", "house", tags=("red",)),
    )

    assert set(ids(index, "the red house", match_all=True)) == {"a", "c"}
    assert ids(index, "the old red house", match_all=True) == ["a"]


def test_entries_are_called_by_id_and_by_path() -> None:
    index = built(
        index_note("Guide-1", "text"),
        index_note("b", "p:Guide-1 is mentioned here and in docs/spec.md"),
        index_note("deploy", "text"),
    )

    for _ in range(2):
        assert index.named(analyse("where is p:Guide-1?")) == ["p:Guide-1"]
        assert index.named(analyse("guide-1 and docs/spec.md")) == ["p:Guide-1", "p:b"]
        assert index.named(analyse("deploy")) == ["p:deploy"]
        assert index.named(analyse("deploy it")) == []
        index.apply(2, [index_note("Guide-1", "new text")], [])


def test_expired_and_excluded_entries_are_not_looked_at() -> None:
    soon = NOW + timedelta(seconds=1)
    documents = [
        index_note("ended", "word", ttl_utc=NOW),
        index_note("lives", "word", ttl_utc=soon),
        index_note("kept", "word", ttl_utc=NOW, is_permanent=True),
    ]
    for index in (built(*documents), KeywordIndex.open(None, disk=Disk())):
        if index.sequence == NOTHING:
            index.apply(1, documents, [])
        assert set(ids(index, "word", now=NOW)) == {"lives", "kept"}
        assert ids(index, "word", now=NOW, without={"p:lives"}) == ["kept"]
        assert len(ids(index, "word")) == 3


@pytest.mark.parametrize("limit", [-1, 0])
@pytest.mark.attack(41)
def test_no_hits_are_asked_for_and_none_come(limit: int) -> None:
    assert ids(built(index_note("a", "word")), "word", limit=limit) == []


@pytest.mark.attack(41)
def test_a_limit_beyond_reason_is_capped() -> None:
    assert ids(built(index_note("a", "word")), "word", limit=10**9) == ["a"]


HOSTILE = [
    "(" * 100_000,
    "NOT " * 10_000,
    " ".join(f"word{number}" for number in range(200_000)),
    "*",
    "tag:x OR *",
    '"abc',
    "a^1e400",
    "/(a+)+$/",
    "\0",
    "a\0b \ud7ff \U0010ffff",
]


@pytest.mark.attack(36)
@pytest.mark.attack(37)
@pytest.mark.attack(38)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_plain_words(text: str) -> None:
    index = built(index_note("one", "harmless", tags=("x",)))
    index.apply(2, [index_note("two", "harmless")], [])

    assert set(ids(index, text)) <= {"one"}
    assert set(ids(index, text, match_all=True)) <= {"one"}


words_or_none = st.sampled_from([None, "a", "b", "x" * 300])
json_values = st.recursive(
    st.none() | st.booleans() | st.sampled_from([0, 1, 1.0, 0.5, -0.0, 10**20, 1e20, "1", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("kl"), inner, max_size=2)
    ),
    max_leaves=3,
)
metadata = st.dictionaries(st.sampled_from("mn"), json_values, max_size=2)
instants = st.integers(-3, 3).map(lambda step: NOW + timedelta(microseconds=step))
tags = st.lists(st.sampled_from("abc"), max_size=3).map(tuple)
documents = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([Kind.NOTE, Kind.FACT, Kind.TASK]),
        "tags": tags,
        "curation_tier": st.sampled_from(CurationTier),
        "retention": st.sampled_from(Retention),
        "namespace": words_or_none,
        "epic_slug": words_or_none,
        "epic_case": words_or_none,
        "agent_id": words_or_none,
        "conversation_id": words_or_none,
        "source_type": words_or_none,
        "timestamps": st.builds(Timestamps, instants, instants),
        "priority": st.integers(1, 10),
        "confidence": st.sampled_from([0.0, 0.3, 0.5, 1.0]),
        "pinned": st.booleans(),
        "metadata": metadata,
    }
)
filters = st.fixed_dictionaries(
    {},
    optional={
        "kinds": st.lists(st.sampled_from([Kind.NOTE, Kind.FACT]), max_size=2).map(frozenset),
        "tags": tags.map(frozenset),
        "any_tags": tags.map(frozenset),
        "tiers": st.lists(st.sampled_from(CurationTier), max_size=2).map(frozenset),
        "retention": st.sampled_from(Retention),
        "namespace": words_or_none,
        "epic_slug": words_or_none,
        "epic_case": words_or_none,
        "conversation_id": words_or_none,
        "agent_id": words_or_none,
        "source_type": words_or_none,
        "created_after": instants,
        "created_before": instants,
        "updated_after": instants,
        "updated_before": instants,
        "min_priority": st.integers(1, 10),
        "min_confidence": st.sampled_from([0.0, 0.3, 0.4, 1.0]),
        "pinned": st.booleans(),
        "metadata": metadata,
        "kind": st.sampled_from([Kind.NOTE, Kind.TASK]),
        "tier": st.sampled_from(CurationTier),
        "tag": st.sampled_from("abc"),
    },
).flatmap(
    lambda chosen: st.sets(st.sampled_from(sorted(chosen) or [""]), max_size=3).map(
        lambda names: Filter(**{name: chosen[name] for name in names if name})
    )
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(documents, min_size=1, max_size=8), st.lists(filters, min_size=1, max_size=8))
def test_every_filter_means_what_the_domain_says(
    given_documents: list[dict[str, Any]], given_filters: list[Filter]
) -> None:
    found = [index_note(str(n), "word", **fields) for n, fields in enumerate(given_documents)]
    committed, pending = built(*found), KeywordIndex.open(None, disk=Disk())
    pending.apply(1, found, [])

    for wanted in given_filters:
        passing = {
            document.id.removeprefix("p:")
            for document in found
            if matches_header(wanted, document.header)
            and matches_document(
                wanted,
                {
                    "body": {"conversationId": document.conversation_id},
                    "source": {"type": document.source_type},
                    "metadata": document.metadata,
                },
            )
        }
        assert set(ids(committed, "word", wanted)) == passing
        assert set(ids(pending, "word", wanted)) == passing


def test_an_index_is_opened_again_as_it_was(tmp_path: Path) -> None:
    index = built(index_note("a", "the first word"), folder=tmp_path / "index")
    index.apply(2, [index_note("b", "the second word"), index_note("c", "word")], [])
    index.apply(3, [], ["p:c"])
    index.commit()
    hits = index.search(analyse("second word"))
    index.close()

    again = KeywordIndex.open(tmp_path / "index", disk=Disk())

    assert again.refused is None
    assert again.sequence == 3
    assert again.search(analyse("second word")) == hits
    assert set(ids(again, "word")) == {"a", "b"}


def test_a_change_without_effect_moves_the_sequence(tmp_path: Path) -> None:
    index = built(index_note("a", "word"), folder=tmp_path / "index")
    index.apply(7, [], [])
    index.commit()

    assert index.sequence == 7
    assert KeywordIndex.open(tmp_path / "index", disk=Disk()).sequence == 7


def test_a_new_folder_is_empty_and_not_refused(tmp_path: Path) -> None:
    index = KeywordIndex.open(tmp_path / "new" / "index", disk=Disk())

    assert (index.refused, index.sequence) == (None, NOTHING)


@pytest.mark.fault("F09")
def test_one_flipped_byte_in_any_file_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    built(*(index_note(str(n), f"word{n} common") for n in range(20)), folder=folder)
    manifest = tmp_path / MANIFEST_NAME
    kept = {path: path.read_bytes() for path in [manifest, *folder.iterdir()]}
    kept = {path: data for path, data in kept.items() if path.suffix != ".lock"}

    for damaged, data in kept.items():
        for at in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
            for path in folder.iterdir():
                path.unlink()
            for path, content in kept.items():
                path.write_bytes(content)
            flip_byte(damaged, at)

            index = KeywordIndex.open(folder, disk=Disk())

            assert index.refused, f"{damaged.name} at {at}"
            assert index.sequence == NOTHING
            assert ids(index, "common") == []


def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every index count as a large one."""
    monkeypatch.setattr(keyword_files, "CHECKED_AT_ONCE_BYTES", 0)


def damaged_in_silence(folder: Path) -> None:
    """Flip a byte so that nothing but the content of a file tells it."""
    path = next(folder.glob("*.store"))
    data, status = path.read_bytes(), path.stat()
    with path.open("r+b") as file:
        file.write(bytes([data[0] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.fault("F09")
def test_files_of_a_large_index_are_compared_after_it_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(monkeypatch)
    folder = tmp_path / "index"
    built(index_note("a", "word"), folder=folder)
    whole = KeywordIndex.open(folder, disk=Disk())
    damaged_in_silence(folder)
    damaged = KeywordIndex.open(folder, disk=Disk())

    assert whole.unchecked
    assert damaged.refused is None
    found = []
    while damaged.unchecked:
        found.append(find_damage(damaged.unchecked, Disk()))
    assert [Path(name).suffix for name in found if name] == [".store"]


@pytest.mark.fault("F09")
def test_a_file_of_a_large_index_that_looks_changed_is_compared_before_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(monkeypatch)
    folder = tmp_path / "index"
    built(index_note("a", "word"), folder=folder)
    path = next(folder.glob("*.store"))

    os.utime(path, ns=(1, 1))
    assert KeywordIndex.open(folder, disk=Disk()).refused is None
    flip_byte(path, -1)
    os.utime(path, ns=(1, 1))
    assert KeywordIndex.open(folder, disk=Disk()).refused


@pytest.mark.fault("F09")
def test_without_the_checksums_a_flipped_byte_would_be_served(tmp_path: Path) -> None:
    built(*(index_note(str(n), f"word{n} common") for n in range(20)), folder=tmp_path / "index")
    positions = next((tmp_path / "index").glob("*.pos"))
    flip_byte(positions, 0)

    opened = Index.open(str(tmp_path / "index"))

    assert opened.searcher().num_docs == 20
    assert KeywordIndex.open(tmp_path / "index", disk=Disk()).refused


@pytest.mark.fault("F17")
@pytest.mark.parametrize(
    "damage", ["older", "older manifest", "fields", "partial", "no manifest", "foreign file"]
)
def test_an_older_or_partial_index_is_refused_and_rebuilt(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "index"
    document = index_note("a", "word")
    built(document, folder=folder)
    _damage(folder, damage)

    index = KeywordIndex.open(folder, disk=Disk())
    reason = index.refused

    assert reason
    index.apply(2, [index_note("b", "word meanwhile")], [])
    assert ids(index, "word") == ["b"]
    index.rebuild([document], 1)
    assert index.refused is None
    assert set(ids(index, "word")) == {"a", "b"}
    index.commit()
    assert KeywordIndex.open(folder, disk=Disk()).sequence == 2


def _damage(folder: Path, damage: str) -> None:
    manifest = folder.parent / MANIFEST_NAME
    match damage:
        case "older" | "fields":
            key, value = ("format", 0) if damage == "older" else ("schema", "x")
            change_manifest(manifest, lambda content: content["words"].update({key: value}))
        case "older manifest":
            change_manifest(manifest, lambda content: content.update(format=0))
        case "partial":
            next(folder.glob("*.pos")).unlink()
        case "no manifest":
            manifest.unlink()
        case "foreign file":
            (folder / "other.idx").write_bytes(b"")


class DyingWriters:
    """Hands out real writers, the first few of which were killed by a document of a wrong type."""

    def __init__(self, dying: int) -> None:
        self.left = dying

    def __call__(self, index: Index) -> IndexWriter:
        writer = open_writer(index)
        if self.left:
            self.left -= 1
            # Without the schema the number goes in as a wrong type and kills the writer's thread.
            writer.add_document(Document(key=-5))
        return writer


def test_a_writer_that_dies_is_made_again_and_nothing_is_lost() -> None:
    index = KeywordIndex.open(None, disk=Disk(), make_writer=DyingWriters(1))
    index.apply(1, [index_note("a", "word")], [])
    index.commit()

    assert index.pending == 0
    assert ids(index, "word") == ["a"]


def test_what_cannot_be_written_stays_pending_and_is_found() -> None:
    index = KeywordIndex.open(None, disk=Disk(), make_writer=DyingWriters(2))
    index.apply(1, [index_note("a", "word")], [])
    with pytest.raises(UnavailableError):
        index.commit()
    index.apply(2, [index_note("b", "word"), index_note("a", "other")], [])

    assert ids(index, "word") == ["b"]
    index.commit()
    assert (index.pending, index.sequence) == (0, 2)
    assert ids(index, "word") == ["b"]
    assert ids(index, "other") == ["a"]


def test_a_hidden_change_is_found_once_it_is_settled_and_newer_ones_count() -> None:
    index = built(index_note("a", "old word"), index_note("b", "old word"))
    index.apply(
        9, [index_note("a", "import word"), index_note("c", "import word")], [], is_hidden=True
    )
    index.apply(10, [index_note("c", "newest word")], [])

    assert index.hides(9)
    assert not index.hides(10)
    assert ids(index, "import") == []
    assert ids(index, "newest") == ["c"]
    assert set(ids(index, "old")) == {"a", "b"}
    index.settle()
    assert not index.hides(9)
    assert ids(index, "import") == ["a"]
    assert ids(index, "newest") == ["c"]
    assert (index.pending, index.sequence) == (0, 10)


def test_a_hidden_change_that_cannot_be_written_is_found_in_the_overlay() -> None:
    index = KeywordIndex.open(None, disk=Disk(), make_writer=DyingWriters(2))
    index.apply(1, [index_note("a", "word")], [], is_hidden=True)

    with pytest.raises(UnavailableError):
        index.settle()

    assert (index.pending, ids(index, "word")) == (1, ["a"])


def test_a_rebuild_under_way_holds_a_hidden_change_up_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyword_index, "COMMIT_WAIT_S", 0.01)
    index = built(index_note("a", "word"))

    def documents() -> Iterator[IndexDocument]:
        index.apply(9, [index_note("b", "word")], [], is_hidden=True)
        with pytest.raises(UnavailableError):
            index.settle()
        yield index_note("a", "word")

    index.rebuild(documents(), sequence=1)

    assert set(ids(index, "word")) == {"a", "b"}


class FullDisk(Disk):
    """Takes no manifest."""

    def write(self, descriptor: int, data: bytes | memoryview) -> int:
        raise OSError(28, "No space left on device")


def test_an_index_that_could_not_be_saved_is_rebuilt_next_time(tmp_path: Path) -> None:
    built(index_note("a", "word"), folder=tmp_path / "index")
    index = KeywordIndex.open(tmp_path / "index", disk=FullDisk())
    index.apply(2, [index_note("b", "word")], [])
    with pytest.raises(UnavailableError):
        index.commit()

    assert set(ids(index, "word")) == {"a", "b"}
    assert KeywordIndex.open(tmp_path / "index", disk=Disk()).refused


def test_a_rebuild_keeps_what_was_applied_after_its_documents_were_taken() -> None:
    index = KeywordIndex.open(None, disk=Disk())
    index.apply(1, [index_note("a", "one"), index_note("gone", "one")], [])
    index.apply(2, [index_note("b", "one")], ["p:gone"])

    index.rebuild([index_note("a", "one"), index_note("gone", "one")], 1)

    assert index.sequence == 1
    assert set(ids(index, "one")) == {"a", "b"}
    index.commit()
    assert index.sequence == 2
    assert set(ids(index, "one")) == {"a", "b"}


def test_a_rebuild_drops_what_its_documents_contain_or_no_longer_have() -> None:
    index = KeywordIndex.open(None, disk=Disk())
    index.apply(1, [index_note("a", "one"), index_note("stale", "one")], [])

    index.rebuild([index_note("a", "one")], 5)

    assert index.pending == 0
    assert ids(index, "one") == ["a"]
