"""Visible: an entry as the caller may see it; answers with whole entries use only this type."""

import msgspec

from qms.memory.lines import encode_line
from qms.memory.visibility import Visibility
from qms.store.view import Record


class Visible(Record, frozen=True, gc=False, kw_only=True):
    """An entry without the parts that are hidden from the caller."""

    stored: Record

    def version(self) -> str:
        """Return the version of the stored entry, hidden parts included."""
        return self.stored.version()


def visible_record(record: Record, visibility: Visibility) -> Visible:
    """Return an entry without its hidden parts."""
    header, line = record.header, record.line
    if visibility.hides_part_of(header, line):
        shown = tuple(one for one in header.relations if visibility.shows(one.target_id))
        header = msgspec.structs.replace(header, relations=shown)
        line = encode_line(visibility.shown(record.document()))
    return Visible(header, line, record.order, stored=record)
