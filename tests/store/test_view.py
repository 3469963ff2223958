"""Immutable views."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qms.memory.lines import encode_line
from qms.store.view import Record, StoreView, ViewBuilder, bulk_view
from tests.support.boxes import entry


def record(local: str, order: int = 1, **overrides: Any) -> Record:
    return Record.from_line(encode_line(entry(local, **overrides)), order)


def built(*records: Record, view: StoreView | None = None) -> StoreView:
    builder = ViewBuilder(view or StoreView("p"))
    for one in records:
        builder.put(one)
    return builder.view()


def to(*targets: str) -> list[dict[str, str]]:
    return [{"type": "ref", "targetId": f"p:{target}"} for target in targets]


def test_a_view_does_not_change_when_the_next_one_is_made() -> None:
    before = built(record("a"))
    after = built(record("a", title="Changed"), record("b"), view=before)

    assert len(before) == 1
    assert before.records["p:a"].header.title == "Title of a"
    assert len(after) == 2
    assert after.records["p:a"].header.title == "Changed"


def test_a_dropped_builder_undoes_everything() -> None:
    view = built(record("a"))
    builder = ViewBuilder(view)
    builder.remove("p:a")
    builder.put(record("b"))

    assert list(view.records) == ["p:a"]


def test_bytes_are_counted_as_they_stand_in_the_file() -> None:
    one, other = record("a"), record("a", title="Longer than it was before")
    view = built(one, record("b"))
    changed = built(other, view=view)
    builder = ViewBuilder(changed)
    builder.remove("p:b")

    assert view.total_bytes == len(one.line) + len(record("b").line) + 2
    assert changed.total_bytes == view.total_bytes - len(one.line) + len(other.line)
    assert builder.view().total_bytes == len(other.line) + 1


def test_removing_what_is_not_there_does_nothing() -> None:
    builder = ViewBuilder(built(record("a")))

    assert builder.remove("p:absent") is None
    assert len(builder.view()) == 1


def test_incoming_relations_follow_puts_changes_and_removals() -> None:
    view = built(record("a", relations=to("x", "y")), record("b", relations=to("x")))
    changed = built(record("a", relations=to("y", "z")), view=view)
    builder = ViewBuilder(changed)
    builder.remove("p:a")

    assert {key: set(ids) for key, ids in view.incoming.items()} == {
        "p:x": {"p:a", "p:b"},
        "p:y": {"p:a"},
    }
    assert {key: set(ids) for key, ids in changed.incoming.items()} == {
        "p:x": {"p:b"},
        "p:y": {"p:a"},
        "p:z": {"p:a"},
    }
    assert {key: set(ids) for key, ids in builder.view().incoming.items()} == {"p:x": {"p:b"}}


def test_a_version_is_the_same_whether_it_was_kept_or_not() -> None:
    bare = record("a")

    assert Record(bare.header, bare.line, 1, bare.version()).version() == bare.version()
    assert bare.version() is bare.version(), "computed once"


def test_an_exact_duplicate_is_found_by_kind_namespace_title_and_body() -> None:
    builder = ViewBuilder(
        built(record("a"), record("b", title="Title of a", body={"statement": "2"}))
    )

    for same in (entry("new", title="Title of a", body={"statement": "Statement of a"}),):
        found = builder.find_exact(same)
        assert found is not None
        assert found.header.id == "p:a"
    for other in (
        entry("a", title="title of A"),
        entry("a", body={"statement": "Statement of a", "more": 1}),
        entry("a", namespace="n"),
        entry("a", kind="note", body={"text": "Statement of a"}),
        entry("absent"),
    ):
        assert builder.find_exact(other) is None


def test_entries_of_one_title_are_found_without_case() -> None:
    builder = ViewBuilder(built(record("a", title="Straße"), record("b", title="STRASSE")))

    found = builder.same_title("fact", None, "strasse")
    assert {one.header.id for one in found} == {"p:a", "p:b"}
    assert list(builder.same_title("note", None, "strasse")) == []
    assert list(builder.same_title("fact", "n", "strasse")) == []


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.none() | st.tuples(st.sampled_from(["T", "t", "U"]), st.sampled_from(["1", "2"])),
    ),
    max_size=25,
)


@given(OPERATIONS)
def test_any_order_of_writes_gives_the_view_of_what_is_left(operations: list[Any]) -> None:
    builder = ViewBuilder(StoreView("p"))
    left: dict[str, Record] = {}
    for local, content in operations:
        if content is None:
            builder.remove(f"p:{local}")
            left.pop(local, None)
        else:
            title, text = content
            left[local] = record(local, title=title, body={"statement": text}, relations=to("x"))
            builder.put(left[local])
    view, fresh = builder.view(), bulk_view("p", left.values(), 0)

    assert dict(view.records) == dict(fresh.records)
    assert view.total_bytes == fresh.total_bytes
    assert view.incoming == fresh.incoming
    for either in (ViewBuilder(view), ViewBuilder(fresh)):
        for title in ("T", "U"):
            same = {one.header.id for one in either.same_title("fact", None, title)}
            assert same == {
                f"p:{key}"
                for key, one in left.items()
                if one.header.title.casefold() == title.casefold()
            }
        for title in ("T", "t", "U"):
            for text in ("1", "2"):
                body = {"statement": text}
                found = either.find_exact(entry("q", title=title, body=body))
                expected = {
                    one.header.id
                    for one in left.values()
                    if (one.header.title, one.document()["body"]) == (title, body)
                }
                assert (found is not None) is bool(expected)
                assert found is None or found.header.id in expected
