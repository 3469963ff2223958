"""Finds likely secrets in the lines of a store; they are reported, never changed."""

from collections.abc import Iterable, Iterator

from qms.store.options import Problem
from qms.store.view import Record, StoreView
from qms.text.secrets import find_leaks, may_leak

SecretLines = dict[str, bytes]
"""Lines that seem to hold a secret, by id."""


def suspects_in(records: Iterable[Record]) -> SecretLines:
    """Return the entries that seem to hold a secret."""
    return {
        record.header.id: record.line
        for record in records
        if may_leak(record.line) and find_leaks(record.document())
    }


def suspect_problems(secret_lines: SecretLines, view: StoreView) -> Iterator[Problem]:
    """Yield the problems of the lines that have not changed since they were found."""
    for entry_id, line in secret_lines.items():
        record = view.get(entry_id)
        if record is None or record.line != line:
            continue
        for leak in find_leaks(record.document()):
            reason = f"{entry_id}: {leak.field} seems to hold {leak.what}"
            yield Problem(code="secret", project=view.project, reason=reason, file="entries.jsonl")
