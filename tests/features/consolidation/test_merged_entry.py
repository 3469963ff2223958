"""What belongs together, and what the one entry made of many holds."""

from typing import Any

import pytest

from qms.features.consolidation.merged_entry import (
    MAX_SOURCES,
    groups_by_likeness,
    groups_by_tag,
    may_go_by_itself,
    merged_fields,
    summary_of,
    title_for,
)
from qms.memory.bodies import Kind
from tests.support.searching import record


def keep(text: str) -> str:
    return text


def test_the_one_entry_has_all_tags_the_highest_priority_and_the_least_confidence() -> None:
    sources = [
        record("a", "x", tags=["t", "u"], priority=8, namespace="n", agentId="ai:b"),
        record("b", "y", tags=["u", "v"], confidence=0.4, namespace="n", agentId="ai:a"),
    ]

    fields = merged_fields(sources, max_tags=50)

    assert fields == {
        "tags": ["t", "u", "v"],
        "priority": 8,
        "confidence": 0.4,
        "namespace": "n",
        "source": {"type": "consolidation"},
        "relations": [
            {"type": "derivedFrom", "targetId": "p:a"},
            {"type": "derivedFrom", "targetId": "p:b"},
        ],
        "metadata": {"consolidatedFromAgents": ["ai:a", "ai:b"]},
    }
    assert merged_fields(sources, max_tags=2)["tags"] == ["t", "u"]


def test_sources_of_two_namespaces_make_an_entry_of_none() -> None:
    sources = [record("a", "x", namespace="n"), record("b", "y")]

    assert merged_fields(sources, max_tags=50)["namespace"] is None


def test_the_title_names_the_commonest_first_tag_and_the_number() -> None:
    sources = [record(name, name, tags=[tag]) for name, tag in (("a", "t"), ("b", "u"), ("c", "u"))]

    assert title_for(sources) == "Consolidated: u (3 memories)"
    assert title_for(sources, "deploys") == "Consolidated: deploys (3 memories)"


def test_a_short_text_stands_as_it_is_and_a_long_one_in_its_summary() -> None:
    sources = [record("a", "short", title="A"), record("b", "long " * 100, title="B")]

    summary = summary_of(sources, lambda _text: "in short", max_bytes=65536)

    assert summary == "- A: short\n- B: in short"


@pytest.mark.parametrize("letter", ["x", "€", "😀"])
def test_a_summary_keeps_to_its_bytes(letter: str) -> None:
    sources = [record(f"r{number}", letter * 250) for number in range(10)]

    assert len(summary_of(sources, keep, max_bytes=1000).encode()) <= 1000


@pytest.mark.parametrize(
    "fields",
    [
        {"curationTier": "curated"},
        {"pinned": True},
        {"isPermanent": True},
        {"source": {"type": "consolidation"}},
        {"kind": Kind.ENTITY.value, "body": {"name": "x"}},
    ],
)
def test_what_somebody_cares_for_does_not_go_by_itself(fields: dict[str, Any]) -> None:
    one, cared_for = record("a", "x"), record("a", "x", **fields)

    assert may_go_by_itself(one.header, one.document(), short_only=False)
    assert not may_go_by_itself(cared_for.header, cared_for.document(), short_only=False)


def test_only_short_lives_count_when_asked() -> None:
    short, long = record("a", "x", retention="short"), record("b", "x")

    assert may_go_by_itself(short.header, short.document(), short_only=True)
    assert not may_go_by_itself(long.header, long.document(), short_only=True)


def test_tags_group_inside_of_a_namespace_from_enough_entries_on() -> None:
    records = [
        *(record(f"a{number}", "x", tags=["t", "other"]) for number in range(3)),
        *(record(f"b{number}", "x", tags=["t"], namespace="n") for number in range(2)),
        record("c", "x"),
    ]

    assert [(one.key, len(one.records)) for one in groups_by_tag(records, least=3)] == [("t", 3)]
    assert [one.key for one in groups_by_tag(records, least=2)] == ["t", "n/t"]


def test_a_large_group_is_cut_and_the_rest_must_be_enough_as_well() -> None:
    records = [record(f"r{number}", "x", tags=["t"]) for number in range(MAX_SOURCES + 2)]

    sizes = [len(one.records) for one in groups_by_tag(records, least=3)]

    assert sizes == [MAX_SOURCES]


def test_likeness_joins_through_others_but_not_across_namespaces() -> None:
    records = [record(name, name, title=name) for name in "abcd"]
    records.append(record("e", "e", namespace="n"))
    pairs = [("p:a", "p:b"), ("p:c", "p:b"), ("p:d", "p:e")]

    (group,) = groups_by_likeness(records, pairs, least=2)

    assert [one.header.id for one in group.records] == ["p:a", "p:b", "p:c"]
    assert group.key == "a"
