"""Finding entities by name inside the writer, and standing in for those that nobody made yet."""

from collections.abc import Iterable

from qms.domain.bodies import Kind
from qms.domain.entry import Document
from qms.domain.errors import NotFoundError, invalid
from qms.ingest.entities import entity_local_id, is_placeholder, placeholder_document
from qms.service.calls import Call
from qms.service.writing import Writing, living, upsert, writing_for
from qms.store.draft import Draft
from qms.store.view import Record


class Nodes:
    """The entities of a project by name; made outside of the writer, asked inside."""

    def __init__(self, call: Call, names: Iterable[str]) -> None:
        """Look once, before the writer is taken, for the names that no index leads to."""
        self.writing: Writing = writing_for(call)
        self._call = call
        wanted = frozenset(names)
        # The index of titles knows one namespace at a time, and the graph has all of them.
        self._elsewhere = {
            record.header.title: record.header.id
            for record in call.store.view.records.values()
            if record.header.kind is Kind.ENTITY and record.header.title in wanted
        }

    def find(self, draft: Draft, name: str) -> Record | None:
        """Return the living entity of this very name, a placeholder too."""
        for entry_id in (self._id(name), self._elsewhere.get(name)):
            record = living(draft, entry_id, self.writing.now) if entry_id else None
            if record is not None and _is_called(record, name):
                return record
        namesakes = list(draft.same_title(Kind.ENTITY, None, name))
        return next((one for one in namesakes if _is_called(one, name)), None)

    def known(self, draft: Draft, name: str) -> Record | None:
        """Return the entity of this name unless it is a placeholder only."""
        record = self.find(draft, name)
        return None if record is None or is_placeholder(record.document()) else record

    def make(self, draft: Draft, document: Document) -> Record:
        """Create an entity, under the id that its name stands for if that is free."""
        entry_id = self._id(document["title"])
        if draft.get(entry_id) is not None:
            entry_id = f"{self._call.project}:{self._call.new_local_id()}"
        given = {**document, "id": entry_id}
        return upsert(draft, given, self.writing, local_id=entry_id.partition(":")[2]).record

    def find_or_stand_in(self, draft: Draft, name: str) -> Record:
        """Return the entity of this name, or a placeholder made for it."""
        return self.find(draft, name) or self.make(draft, placeholder_document(name))

    def _id(self, name: str) -> str:
        return f"{self._call.project}:{entity_local_id(name)}"


def check_name(name: str, field: str) -> None:
    """Raise `InvalidInputError` for a name that no title can be."""
    if not name.strip():
        raise invalid(field, "is empty")


def no_entity(name: str) -> NotFoundError:
    """Return the error for a name that no entity has."""
    return NotFoundError(f"Entity with name {name[:200]} not found", name=name[:200])


def _is_called(record: Record, name: str) -> bool:
    return record.header.kind is Kind.ENTITY and record.header.title == name
