"""Secrets in the lines of a store: reported, never changed; the file is the person's."""

from collections.abc import Iterable, Iterator

from qms.domain.leaks import find_leaks, may_leak
from qms.store.options import Problem
from qms.store.view import Record, StoreView

Suspects = dict[str, bytes]
"""Lines that a person wrote and that seem to hold a secret, by id."""


def suspects_in(records: Iterable[Record]) -> Suspects:
    """Return those of the entries that seem to hold a secret."""
    return {
        record.header.id: record.line
        for record in records
        if may_leak(record.line) and find_leaks(record.document())
    }


def suspect_problems(suspects: Suspects, view: StoreView) -> Iterator[Problem]:
    """Yield what is to be said of the suspects whose line is still the one that was noticed."""
    for entry_id, line in suspects.items():
        record = view.get(entry_id)
        if record is None or record.line != line:
            continue
        for leak in find_leaks(record.document()):
            reason = f"{entry_id}: {leak.field} seems to hold {leak.what}"
            yield Problem(code="secret", project=view.project, reason=reason, file="entries.jsonl")
