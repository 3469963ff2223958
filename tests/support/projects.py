"""Small real stores, for tests of what stands around a store."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from qms.disk.disk import Disk
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.entry_input import EntryRules, new_document
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin, StoreOptions

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

Kind = TypeVar("Kind", bound=MemoryStore)


def open_store(
    folder: Path,
    project: str = "p",
    *,
    disk: Disk | None = None,
    options: StoreOptions | None = None,
) -> MemoryStore:
    """Open the store in `folder` with a clock that stands still."""
    return open_as(MemoryStore, folder, project, disk=disk, options=options)


def open_as(
    kind: type[Kind],
    folder: Path,
    project: str = "p",
    *,
    disk: Disk | None = None,
    options: StoreOptions | None = None,
) -> Kind:
    """Open the store in `folder` as one of a class of its own."""
    return kind.open(
        folder,
        project,
        disk=disk or Disk(),
        options=options or StoreOptions(),
        backup_root=folder.parent / "Backups",
        clock=lambda: NOW,
    )


def remember(store: MemoryStore, local_id: str, text: str = "a text") -> None:
    """Commit one note."""
    given = {"kind": "note", "title": local_id, "body": {"text": text}}
    rules = EntryRules(project=store.project)

    def plan(draft: Draft) -> None:
        draft.put(new_document(given, local_id=local_id, now=NOW, caller=LOCAL_ADMIN, rules=rules))

    store.commit(
        Origin(command="upsertEntry", user="alice", at_utc=NOW, right=AccessTier.ADMIN), plan
    )


def edit_by_hand(path: Path, old: str, new: str) -> None:
    """Save the file as most editors do: a new one is put in its place."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    other = path.with_name("by-hand~")
    other.write_text(text.replace(old, new), encoding="utf-8")
    other.replace(path)


def text_of(store: MemoryStore, local_id: str) -> str | None:
    """Return the text of a note as readers see it now."""
    record = store.view.get(f"{store.project}:{local_id}")
    return str(record.document()["body"]["text"]) if record else None


def ids_in(path: Path) -> list[str]:
    """Return the ids in an `entries.jsonl`, line by line; none without the file."""
    if not path.exists():
        return []
    return [json.loads(line)["id"] for line in path.read_bytes().split(b"\n") if line]
