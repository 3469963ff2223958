"""Client-provided vectors: used if they fit the model, else ignored and reported."""

from collections.abc import Iterable, Iterator

from qms.index.vectors.codes import unit_query
from qms.memory.changes import ChangeSet, Put
from qms.memory.entry import Document
from qms.memory.errors import InvalidInputError
from qms.memory.lines import decode_line
from qms.store.options import Problem
from qms.store.view import Record

_FIELD = "embedding"
_FIELD_IN_LINE = b'"embedding"'


def given_vector(document: Document, dimension: int) -> list[float] | None:
    """Return the vector given with an entry, if it fits the model."""
    given: list[float] | None = document.get(_FIELD)
    return given if given is not None and _misfit(given, dimension) is None else None


class Misfits:
    """The entries of one store whose own vector does not fit the model, and why."""

    def __init__(self, dimension: int, records: Iterable[Record] = ()) -> None:
        self._dimension = dimension
        self._reasons: dict[str, str] = {}
        # A fast check, since it runs at every start and nearly no line has one.
        for record in [one for one in records if _FIELD_IN_LINE in one.line]:
            self._look_at(record.header.id, record.line)

    def follow(self, change_set: ChangeSet) -> None:
        """Apply a ChangeSet."""
        for change in change_set.changes:
            self._reasons.pop(change.id, None)
            if isinstance(change, Put) and _FIELD_IN_LINE in change.line:
                self._look_at(change.id, change.line)

    def problems(self, project: str) -> Iterator[Problem]:
        """Yield a problem for each of them."""
        for entry_id, reason in list(self._reasons.items()):
            text = f"{entry_id}: its vector is not used, its text is embedded instead; {reason}"
            yield Problem(code=_FIELD, project=project, reason=text, file="entries.jsonl")

    def _look_at(self, entry_id: str, line: bytes) -> None:
        given = decode_line(line).get(_FIELD)
        reason = None if given is None else _misfit(given, self._dimension)
        if reason is not None:
            self._reasons[entry_id] = reason


def _misfit(given: object, dimension: int) -> str | None:
    try:
        unit_query(given, dimension, _FIELD)
    except InvalidInputError as error:
        return error.message
    return None
