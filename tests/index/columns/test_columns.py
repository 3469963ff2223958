"""Columns answer every filter as the rules of the domain do."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qms.index.columns.columns import Columns
from qms.index.columns.postings import Postings
from qms.index.indexed_entry import Facets, index_document
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Document, Retention
from qms.memory.filters import Filter, matches_document, matches_header
from qms.memory.retention import is_expired
from qms.memory.validation import header_of

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

few_names = st.sampled_from(["a", "b", "", "ä"])
instants = st.sampled_from(
    [NOW + timedelta(microseconds=step) for step in (-(10**12), -1, 0, 1, 10**12)]
)
json_values = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, -1, -2, 0.5, "", "1", "a", 10**30]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(few_names, inner, max_size=2),
    max_leaves=3,
)


def entry(local: str, **fields: Any) -> Document:
    text = NOW.isoformat()
    return {
        "schemaVersion": 1,
        "id": f"p:{local}",
        "kind": "note",
        "title": "t",
        "body": {"text": "x"},
        "timestamps": {"createdUtc": text, "updatedUtc": text},
        **fields,
    }


def facets(document: Document) -> Facets:
    return index_document(header_of(document), document)


def turn(local: str, conversation: str | None, ordinal: int | None, minute: int) -> Facets:
    created = (NOW + timedelta(minutes=minute)).isoformat()
    body: dict[str, Any] = {"content": "x", "conversationId": conversation}
    if ordinal is not None:
        body["ordinal"] = ordinal
    stamps = {"createdUtc": created, "updatedUtc": created}
    return facets(entry(local, kind="conversationTurn", body=body, timestamps=stamps))


def ids(columns: Columns, mask: Any) -> set[str]:
    return set(columns.slots.ids_of(np.flatnonzero(mask).tolist()))


@st.composite
def documents(draw: st.DrawFn) -> Document:
    body = draw(
        st.fixed_dictionaries({"text": st.just("x")}, optional={"conversationId": few_names})
    )
    stamps = {"createdUtc": draw(instants).isoformat(), "updatedUtc": draw(instants).isoformat()}
    optional = {
        "tags": st.lists(few_names, max_size=3),
        "retention": st.sampled_from([item.value for item in Retention]),
        "curationTier": st.sampled_from([item.value for item in CurationTier]),
        "ttlUtc": instants.map(datetime.isoformat) | st.none(),
        "isPermanent": st.booleans(),
        "pinned": st.booleans(),
        "priority": st.integers(1, 10),
        "confidence": st.sampled_from([0.0, 0.3, 0.1 + 0.2, 1.0]),
        "namespace": few_names,
        "epicSlug": few_names,
        "epicCase": few_names,
        "agentId": few_names,
        "source": st.fixed_dictionaries({}, optional={"type": few_names}),
        "metadata": st.dictionaries(few_names, json_values, max_size=2),
    }
    fields = draw(st.fixed_dictionaries({}, optional=optional))
    local, kind = draw(st.sampled_from("uvwxyz")), draw(st.sampled_from(list(Kind)))
    return entry(local, kind=kind.value, body=body, timestamps=stamps, **fields)


filters = st.builds(
    Filter,
    kinds=st.lists(st.sampled_from(Kind), max_size=8).map(frozenset),
    tags=st.lists(few_names, max_size=2).map(frozenset),
    any_tags=st.lists(few_names, max_size=2).map(frozenset),
    tiers=st.lists(st.sampled_from(CurationTier), max_size=2).map(frozenset),
    retention=st.none() | st.sampled_from(Retention),
    **{
        name: st.none() | few_names
        for name in (
            "namespace",
            "epic_slug",
            "epic_case",
            "conversation_id",
            "agent_id",
            "source_type",
            "tag",
        )
    },
    **{
        name: st.none() | instants
        for name in ("created_after", "created_before", "updated_after", "updated_before")
    },
    min_priority=st.none() | st.integers(1, 10),
    min_confidence=st.none() | st.sampled_from([0.0, 0.3, 1.0]),
    pinned=st.none() | st.booleans(),
    metadata=st.none() | st.dictionaries(few_names, json_values, max_size=1),
    kind=st.none() | st.sampled_from(Kind),
    tier=st.none() | st.sampled_from(CurationTier),
)


@st.composite
def narrow_filters(draw: st.DrawFn) -> Filter:
    """Draw filters of one to three conditions, since all at once match nothing."""
    every = draw(filters)
    kept = draw(st.lists(st.sampled_from(Filter.__struct_fields__), min_size=1, max_size=3))
    return Filter(**{name: getattr(every, name) for name in kept})


def matching(stored: dict[str, Document], wanted: Filter | None) -> set[str]:
    return {
        document["id"]
        for document in stored.values()
        if not is_expired(header_of(document), NOW)
        and (
            wanted is None
            or (matches_header(wanted, header_of(document)) and matches_document(wanted, document))
        )
    }


changes = st.lists(documents() | st.sampled_from(["p:u", "p:v", "p:w"]), max_size=14)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(changes=changes, wanted=st.none() | filters | narrow_filters(), compact=st.booleans())
def test_a_filter_finds_what_the_rules_of_the_domain_find(
    changes: list[Document | str], wanted: Filter | None, compact: bool
) -> None:
    columns, stored = Columns(), dict[str, Document]()
    for change in changes:
        if isinstance(change, str):
            columns.remove(change)
            stored.pop(change, None)
        else:
            columns.put(facets(change))
            stored[change["id"]] = change
    if compact:
        columns = columns.compacted()

    mask = columns.allowed(wanted, now=NOW)

    assert ids(columns, mask) == matching(stored, wanted)
    assert len(columns) == len(stored)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(loaded=st.lists(documents(), max_size=8), wanted=st.none() | narrow_filters())
def test_columns_of_many_entries_equal_those_filled_one_by_one(
    loaded: list[Document], wanted: Filter | None
) -> None:
    stored = {document["id"]: document for document in loaded}

    columns = Columns.of([facets(document) for document in stored.values()])

    assert ids(columns, columns.allowed(wanted, now=NOW)) == matching(stored, wanted)


def expiring(count: int) -> list[Facets]:
    """Return entries of which the first has expired and the others never do."""
    ended = (NOW - timedelta(seconds=1)).isoformat()
    return [
        facets(entry("e0", ttlUtc=ended)),
        *(facets(entry(f"e{number}")) for number in range(1, count)),
    ]


def in_bulk(entries: list[Facets]) -> Columns:
    columns = Columns()
    columns.apply(entries)
    return columns


def restored(entries: list[Facets]) -> Columns:
    saved = Columns.of(entries).saved()
    return Columns.restored(saved, [one.header for one in entries])


def rearranged(entries: list[Facets]) -> Columns:
    arranged = Columns.of(entries).arranged([one.id for one in reversed(entries)])
    assert arranged is not None
    return arranged


@pytest.mark.parametrize(
    "make",
    [in_bulk, Columns.of, restored, rearranged, lambda entries: in_bulk(entries).compacted()],
    ids=["in bulk", "loaded", "restored", "rearranged", "compacted"],
)
def test_an_expired_entry_is_kept_out_however_the_columns_were_made(
    make: Callable[[list[Facets]], Columns],
) -> None:
    columns = make(expiring(40))

    expired = columns.expired(NOW)

    assert columns.slots.ids_of(expired.tolist()) == ["p:e0"]
    assert "p:e0" not in ids(columns, columns.allowed(None, now=NOW))


def test_entries_that_are_replaced_in_bulk_count_once() -> None:
    columns = in_bulk(expiring(40))
    columns.apply(expiring(40))

    assert len(columns) == 40


def test_of_entries_changed_at_the_same_moment_the_one_added_last_is_the_latest() -> None:
    columns = in_bulk([facets(entry(name)) for name in "abc"])

    latest = columns.latest(columns.allowed(None, now=NOW), 2)

    assert columns.slots.ids_of(latest.tolist()) == ["p:c", "p:b"]


def test_an_entry_keeps_its_slot_and_no_other_ever_gets_it() -> None:
    columns = Columns()
    first = columns.put(facets(entry("a")))
    columns.remove("p:a")
    other = columns.put(facets(entry("b")))

    assert columns.put(facets(entry("a"))) == first != other


def test_a_mask_that_was_taken_does_not_change() -> None:
    columns = Columns()
    columns.apply(facets(entry(str(number))) for number in range(600))
    mask = columns.allowed(None, now=NOW)
    columns.apply((facets(entry(f"new{number}")) for number in range(600)), ["p:3"])

    assert len(mask) == 600
    assert mask.all()


def test_a_slot_that_only_the_vectors_have_claimed_is_not_allowed() -> None:
    columns = Columns()
    columns.put(facets(entry("a")))
    columns.slots.claim("p:b")
    columns.put(facets(entry("c")))

    assert ids(columns, columns.allowed(None, now=NOW)) == {"p:a", "p:c"}


def test_an_unknown_id_is_removed_in_silence() -> None:
    columns = Columns()
    columns.remove("p:nobody")
    columns.slots.claim("p:claimed")
    columns.remove("p:claimed")

    assert len(columns) == 0


@pytest.mark.parametrize(("given", "wanted"), [(-1, -2), ("1", 1), (0, 2**61 - 1), (None, 0)])
def test_metadata_values_that_look_alike_are_told_apart(given: Any, wanted: Any) -> None:
    columns = Columns()
    columns.put(facets(entry("a", metadata={"level": given})))

    assert not columns.allowed(Filter(metadata={"level": wanted}), now=NOW).any()


def test_deeply_nested_metadata_costs_no_more_than_its_length() -> None:
    value: Any = "'\"\\"
    for _ in range(60):
        value = [value]
    columns = Columns()
    columns.put(facets(entry("a", metadata={"deep": value})))

    assert columns.allowed(Filter(metadata={"deep": value}), now=NOW).all()


def neighbours(columns: Columns, local: str) -> tuple[str | None, str | None]:
    slot = columns.slots.find(f"p:{local}")
    before, after = columns.neighbours(np.array([slot]))
    names = [
        None if found < 0 else columns.slots.id_of(int(found))[2:] for found in (*before, *after)
    ]
    return names[0], names[1]


def order(columns: Columns, conversation: str) -> str:
    return "".join(name[2:] for name in columns.slots.ids_of(columns.turns(conversation).tolist()))


def test_turns_stand_by_ordinal_when_every_turn_has_one() -> None:
    columns = Columns()
    columns.apply([turn("c", "x", 3, 0), turn("a", "x", 1, 5), turn("b", "x", 2, 9)])

    assert order(columns, "x") == "abc"
    assert neighbours(columns, "a") == (None, "b")
    assert neighbours(columns, "b") == ("a", "c")
    assert neighbours(columns, "c") == ("b", None)


def test_turns_stand_by_time_as_soon_as_one_has_no_ordinal() -> None:
    columns = Columns()
    columns.apply([turn("c", "x", 1, 3), turn("a", "x", 2, 1), turn("b", "x", None, 2)])

    assert order(columns, "x") == "abc"
    columns.remove("p:b")
    assert order(columns, "x") == "ca"


def test_turns_of_one_moment_stand_by_arrival() -> None:
    columns = Columns()
    columns.apply([turn("b", "x", None, 0), turn("a", "x", None, 0), turn("c", "x", 5, 0)])

    assert order(columns, "x") == "bac"


def test_a_turn_that_moves_to_another_conversation_leaves_no_gap() -> None:
    columns = Columns()
    columns.apply([turn(name, "x", number, 0) for number, name in enumerate("abc")])
    columns.put(turn("b", "y", 10**30, 0))

    assert (order(columns, "x"), order(columns, "y")) == ("ac", "b")
    assert neighbours(columns, "a") == (None, "c")
    assert neighbours(columns, "b") == (None, None)


def test_entries_without_a_conversation_have_neither_number_nor_neighbours() -> None:
    columns = Columns()
    columns.apply([facets(entry("a")), turn("b", "x", 1, 1)])
    slots = np.array([0, 1, 700])

    assert columns.conversations(slots)[[0, 2]].tolist() == [-1, -1]
    assert columns.conversations(slots)[1] >= 0
    assert [found.tolist() for found in columns.neighbours(slots)] == [[-1] * 3, [-1] * 3]
    assert columns.turns("nowhere").tolist() == []


turns = st.lists(
    st.tuples(
        st.sampled_from("abcdefgh"),
        st.sampled_from(["x", "y", None]),
        st.none() | st.integers(0, 3),
        st.integers(0, 3),
    ),
    max_size=16,
)


@settings(max_examples=200, deadline=None)
@given(written=turns, gone=st.lists(st.sampled_from("abcdefgh"), max_size=4), way=st.integers(0, 2))
def test_conversations_are_ordered_whatever_was_written_before(
    written: list[tuple[str, str | None, int | None, int]], gone: list[str], way: int
) -> None:
    columns, stored = Columns(), dict[str, Facets]()
    for said in written:
        columns.put(turn(*said))
        stored[f"p:{said[0]}"] = turn(*said)
    for local in gone:
        columns.remove(f"p:{local}")
        stored.pop(f"p:{local}", None)
    ranks = {entry_id: columns.slots.find(entry_id) for entry_id in stored}
    if way == 1:
        columns = columns.compacted()
    if way == 2:
        columns = Columns.of(sorted(stored.values(), key=lambda found: ranks[found.id] or 0))

    for conversation in ("x", "y"):
        members = [found for found in stored.values() if found.conversation_id == conversation]
        numbered = all(found.ordinal is not None for found in members)
        members.sort(
            key=lambda found: (
                (found.ordinal or 0) if numbered else 0,
                found.header.timestamps.created_utc,
                ranks[found.id],
            )
        )
        names = [found.id[2:] for found in members]
        assert order(columns, conversation) == "".join(names)
        for place, name in enumerate(names):
            after = names[place + 1] if place + 1 < len(names) else None
            assert neighbours(columns, name) == (names[place - 1] if place else None, after)


def test_columns_are_sparse_only_when_most_entries_are_gone() -> None:
    columns = Columns.of(facets(entry(str(number))) for number in range(4200))
    found = []
    for number in range(4097):
        columns.remove(f"p:{number}")
        found.append(columns.is_sparse)

    assert found == [False] * 4096 + [True]
    assert not columns.compacted().is_sparse


@pytest.mark.attack(84)
def test_any_number_of_tags_takes_one_scan_and_a_lost_condition_ends_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tags = [f"t{number}" for number in range(50)]
    columns = Columns.of([facets(entry("u", tags=tags)), facets(entry("v", tags=["other"]))])
    scans: list[object] = []
    carrying = Postings.carrying

    def counted(postings: Postings, wanted: Any) -> Any:
        scans.append(wanted)
        return carrying(postings, wanted)

    monkeypatch.setattr(Postings, "carrying", counted)
    many = frozenset(map(str, range(1000)))

    assert columns.allowed(Filter(any_tags=many | {"t7"}), now=NOW).tolist() == [True, False]
    assert len(scans) == 1
    assert not columns.allowed(Filter(any_tags=many), now=NOW).any()
    assert len(scans) == 1
    assert columns.allowed(Filter(tags=frozenset(tags)), now=NOW).tolist() == [True, False]
    assert len(scans) == 1 + len(tags)
    facts = dict.fromkeys(many, 1)
    assert not columns.allowed(Filter(tags=many, metadata=facts), now=NOW).any()
    assert len(scans) == 2 + len(tags)
