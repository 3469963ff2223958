"""What the text of a note says of links, tags and categories."""

import pytest

from qms.features.transfer.importers.wiki_links import (
    MAX_TAGS,
    Link,
    name_key,
    read_marks,
    relations,
)


@pytest.mark.parametrize(
    ("line", "links"),
    [
        ("- relates_to [[Other]]", [Link("Other", "relates_to")]),
        ("* implements [[Other#Part|shown]] (a context)", [Link("Other", "implements")]),
        ('- "works with" [[Other]]', [Link("Other", "works with")]),
        ("see [[One]] and [[Two]]", [Link("One", "mentions"), Link("Two", "mentions")]),
        ("- see also what [[One]] says", [Link("One", "mentions")]),
        ("`[[in code]]`", []),
        ("[[]] [[ ]x] [one](two)", []),
    ],
)
def test_a_line_links_as_it_says(line: str, links: list[Link]) -> None:
    assert read_marks(line).links == links


def test_a_block_of_code_links_to_nothing() -> None:
    assert read_marks("```\n[[One]]\n```\n~~~\n- a [[Two]]\n~~~\n").links == []


def test_observations_have_tags_and_categories_and_tasks_have_none() -> None:
    marks = read_marks("- [tech] Uses C #lang #a/b (a #c)\n- [x] done #no\n- [ ] open\n#heading")

    assert marks.categories == ["tech"]
    assert marks.tags == ["lang", "a/b", "c"]


def test_tags_have_a_limit() -> None:
    text = "- [x1] " + " ".join(f"#t{number}" for number in range(100))

    assert len(read_marks(text).tags) == MAX_TAGS


def test_a_link_becomes_a_relation_when_its_target_is_known_and_another() -> None:
    links = [
        Link("One", "mentions"),
        Link("ONE", "part_of"),
        Link("Own", "mentions"),
        Link("Nobody", "requires"),
    ]
    ids = {name_key("one.md"): "p:1", name_key("Own"): "p:own"}

    assert relations(links, ids, "p:own") == [{"type": "partOf", "targetId": "p:1"}]
