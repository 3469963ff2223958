"""Which entries are retired: chains, circles, proposals, and what time does to them."""

from datetime import timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from qms.store.superseded import retired_by
from tests.support.boxes import NOW, StoreBox, statement

NODES = "abcdef"
FUTURE = "2026-02-01T00:00:00.000Z"


def replaces(*locals_: str) -> list[dict[str, str]]:
    return [{"targetId": f"p:{local}", "type": "supersedes"} for local in locals_]


def retired(box: StoreBox) -> str:
    """Return the local ids of retired entries in one word."""
    return "".join(sorted(one.removeprefix("p:") for one in box.store.superseded(NOW)))


def test_all_but_the_last_of_a_chain_of_versions_are_retired(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "first"), statement("b", "second", relations=replaces("a")))
    box.put(statement("c", "third", relations=replaces("b")))

    assert retired(box) == "ab"


def test_of_two_entries_that_replace_each_other_the_last_changed_stands(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple", relations=replaces("b")))
    box.put(statement("b", "apple", relations=replaces("a")))
    assert retired(box) == "a"

    box.put(statement("a", "apple again", relations=replaces("b")))

    assert retired(box) == "b"


def test_a_long_circle_leaves_one_entry_standing(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(
        *(statement(str(n), "round", relations=replaces(str((n + 1) % 500))) for n in range(499))
    )
    box.put(statement("499", "round", relations=replaces("0")))

    assert len(box.store.superseded(NOW)) == 499
    assert "p:499" not in box.store.superseded(NOW)


def test_a_circle_below_another_entry_is_retired_as_a_whole(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("top", "above", relations=replaces("a")))
    box.put(statement("a", "apple", relations=replaces("b")))
    box.put(statement("b", "pear", relations=replaces("a")))

    assert retired(box) == "ab"


def test_what_is_less_trusted_only_proposes(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(
        statement("a", "apple", curationTier="canonical"), statement("b", "x", isPermanent=True)
    )
    box.put(statement("c", "cherry", relations=replaces("a", "b")))
    assert retired(box) == ""

    box.put(statement("c", "cherry", curationTier="canonical", relations=replaces("a", "b")))

    assert retired(box) == "a"


def test_what_an_entry_replaced_comes_back_when_it_expires_or_goes(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"), statement("b", "pear"))
    box.put(statement("c", "cherry", ttlUtc=FUTURE, relations=replaces("a")))
    box.put(statement("d", "date", relations=replaces("b")))
    assert retired(box) == "ab"

    assert box.store.superseded(NOW + timedelta(days=60)) == {"p:b"}
    assert box.store.superseded(NOW) == {"p:a", "p:b"}
    box.remove("d")
    assert retired(box) == "a"


def test_a_relation_taken_away_gives_the_entry_back(tmp_path: Path) -> None:
    box = StoreBox(tmp_path)
    box.put(statement("a", "apple"), statement("b", "pear", relations=replaces("a")))
    assert retired(box) == "a"

    box.put(statement("b", "pear"))

    assert retired(box) == ""


@settings(max_examples=300, deadline=None)
@given(st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))))
def test_what_stands_is_what_has_nothing_above_it_but_its_own_circle(
    pairs: set[tuple[str, str]],
) -> None:
    edges = {one: [b for a, b in sorted(pairs) if a == one] for one in NODES}
    above = {one: ancestors(one, pairs) for one in NODES}

    found = retired_by(edges, str)

    for one in NODES:
        circle = {other for other in above[one] if one in above[other]}
        stands = above[one] <= circle and one == max({one, *circle})
        assert (one not in found) is stands


def ancestors(node: str, pairs: set[tuple[str, str]]) -> set[str]:
    found: set[str] = set()
    fresh = {node}
    while fresh:
        fresh = {a for a, b in pairs if b in fresh} - found
        found |= fresh
    return found
