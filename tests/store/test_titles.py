"""The index of titles: made when it is first asked for, then as immutable as a view."""

from qms.memory.entry import Document
from qms.memory.lines import encode_line
from qms.store.titles import Titled, TitleIndex
from qms.store.view import Record, StoreView, ViewBuilder, bulk_view


def document(local_id: str, title: str, text: str) -> Document:
    return {
        "schemaVersion": 1,
        "id": f"default:{local_id}",
        "kind": "note",
        "title": title,
        "body": {"text": text},
        "timestamps": {"createdUtc": "2026-01-05T09:00:00Z", "updatedUtc": "2026-01-05T09:00:00Z"},
    }


def record(local_id: str, title: str, text: str) -> Record:
    return Record.from_line(encode_line(document(local_id, title, text)))


def loaded(*records: Record) -> StoreView:
    return bulk_view("default", records, 7)


def ids(view: StoreView, title: str) -> set[str]:
    return {found.header.id for found in ViewBuilder(view).same_title("note", None, title)}


def test_the_index_is_made_once_and_with_the_first_question() -> None:
    made = []

    def make() -> dict[int, str | Titled]:
        made.append(True)
        return {1: "default:a"}

    index = TitleIndex.made_by(make).set(2, "default:b")
    assert made == []

    assert (index.get(1), index.get(2), index.get(3)) == ("default:a", "default:b", None)
    index.prepare()
    assert made == [True]


def test_a_change_leaves_the_index_before_it_as_it_was() -> None:
    before = TitleIndex.made_by(lambda: {1: "default:a"})

    after = before.set(1, None).set(2, "default:b")

    assert (before.get(1), before.get(2)) == ("default:a", None)
    assert (after.get(1), after.get(2)) == (None, "default:b")


def test_entries_that_were_loaded_are_found_by_title_without_case() -> None:
    view = loaded(record("a", "Plan", "x"), record("b", "plan", "y"), record("c", "Other", "z"))

    assert ids(view, "PLAN") == {"default:a", "default:b"}
    assert ids(view, "other") == {"default:c"}
    assert ids(view, "none") == set()


def test_an_exact_duplicate_is_found_among_loaded_entries_of_one_title() -> None:
    view = loaded(record("a", "Plan", "x"), record("b", "Plan", "y"))

    found = ViewBuilder(view).find_exact(document("new", "Plan", "y"))

    assert found is not None
    assert found.header.id == "default:b"
    assert ViewBuilder(view).find_exact(document("new", "Plan", "z")) is None


def test_what_changes_after_a_load_is_found_under_its_new_title_only() -> None:
    builder = ViewBuilder(loaded(record("a", "Plan", "x"), record("b", "Plan", "y")))
    builder.put(record("a", "Goal", "x"))
    builder.remove("default:b")
    builder.put(record("c", "Plan", "w"))

    assert ids(builder.view(), "Plan") == {"default:c"}
    assert ids(builder.view(), "Goal") == {"default:a"}
    assert builder.find_exact(document("new", "Plan", "y")) is None


def test_a_load_counts_bytes_and_incoming_relations() -> None:
    pointing = document("b", "Second", "y") | {
        "relations": [{"type": "ref", "targetId": "default:a"}]
    }
    first, second = record("a", "First", "x"), Record.from_line(encode_line(pointing))

    view = loaded(first, second)

    assert view.total_bytes == len(first.line) + len(second.line) + 2
    assert list(view.incoming["default:a"]) == ["default:b"]
