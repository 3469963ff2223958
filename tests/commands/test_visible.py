"""An entry as a caller sees it: header and line tell the same, the version is the stored one."""

from qms.commands.visible import visible_record
from qms.memory.visibility import Visibility
from qms.store.view import Record
from tests.support.boxes import entry, line_of

OPEN = Visibility(lambda slug: slug != "closed")


def related_to(*targets: str) -> Record:
    relations = [{"type": "derivedFrom", "targetId": target} for target in targets]
    return Record.from_line(line_of(entry("a", relations=relations)), 7)


def test_header_and_line_of_a_visible_entry_have_the_same_relations() -> None:
    seen = visible_record(related_to("p:b", "closed:c", "other:d"), OPEN)

    assert [one.target_id for one in seen.header.relations] == ["p:b", "other:d"]
    assert [one["targetId"] for one in seen.document()["relations"]] == ["p:b", "other:d"]
    assert b"closed" not in seen.line


def test_a_visible_entry_has_the_version_and_the_order_of_the_stored_one() -> None:
    stored = related_to("p:b", "closed:c")

    seen = visible_record(stored, OPEN)

    assert (seen.version(), seen.order) == (stored.version(), 7)
    assert seen.version() != visible_record(related_to("p:b"), OPEN).version()


def test_an_entry_without_hidden_parts_is_seen_byte_for_byte() -> None:
    stored = related_to("p:b")

    assert visible_record(stored, OPEN).line is stored.line
