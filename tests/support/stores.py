"""A store in a test: opening it, writing to it, and reading it as a plain dictionary.

What a store holds is described by a flat state: the local id of every entry with its text, and
`shared/<writer>` with what that writer put down in the one entry that all writers change.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from qms.disk.disk import Disk
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.entry_input import EntryRules, new_document, patched_document, replaced_document
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin, StoreOptions

PROJECT = "p"
SHARED = "shared"
RULES = EntryRules(project=PROJECT)
PATIENT = StoreOptions(retry_s=3600.0)
"""A store that leaves read-only mode only when it is told to try."""


class UnsyncedDisk(Disk):
    """A disk for tests in which no machine dies: its syncs cost nothing."""

    def sync(self, descriptor: int) -> None:
        return

    def sync_folder(self, folder: Path) -> None:
        return


State = dict[str, str]
Changes = dict[str, str | None]


def open_store(
    folder: Path, *, disk: Disk | None = None, options: StoreOptions = PATIENT
) -> MemoryStore:
    return MemoryStore.open(
        folder,
        PROJECT,
        disk=disk or Disk(),
        options=options,
        backup_root=folder.parent / "Backups",
        clock=now,
    )


def now() -> datetime:
    return datetime.now(UTC)


def abandon(store: MemoryStore) -> None:
    """Leave a store as a killed process does: nothing is folded, the descriptor is closed."""
    store.abandon()


def write(store: MemoryStore, changes: Changes, *, verb: str = "upsertEntry") -> None:
    """Make all changes in one commit; a text of None deletes."""
    at = now()

    def plan(draft: Draft) -> None:
        for key, text in changes.items():
            _change(draft, key, text, at, patches=verb == "patchEntry")

    store.commit(Origin(command=verb, user="tester", at_utc=at, right=AccessTier.ADMIN), plan)


def _change(draft: Draft, key: str, text: str | None, at: datetime, *, patches: bool) -> None:
    local, _, slot = key.partition("/")
    entry_id = f"{PROJECT}:{local}"
    if text is None:
        draft.remove(entry_id)
        return
    given: dict[str, Any] = {"id": local, "kind": "note", "title": local, "body": text}
    if slot:
        given = {**given, "body": "shared by all", "metadata": {slot: text}}
    record = draft.get(entry_id)
    if record is None:
        document = new_document(given, local_id=local, now=at, caller=LOCAL_ADMIN, rules=RULES)
    elif slot or patches:
        patch = {key: value for key, value in given.items() if key in ("body", "metadata")}
        document = patched_document(patch, record.document(), now=at, rules=RULES)
    else:
        document = replaced_document(
            given, record.document(), now=at, caller=LOCAL_ADMIN, rules=RULES
        )
    draft.put(document)


def state_of(store: MemoryStore) -> State:
    return state_of_documents([record.document() for record in store.view.records.values()])


def state_of_documents(documents: list[dict[str, Any]]) -> State:
    state: State = {}
    for document in documents:
        local = document["id"].partition(":")[2]
        if local == SHARED:
            state |= {f"{SHARED}/{slot}": text for slot, text in document["metadata"].items()}
        else:
            state[local] = document["body"]["text"]
    return state


def applied(state: State, changes: Changes) -> State:
    after = {key: text for key, text in state.items() if key not in changes}
    return after | {key: text for key, text in changes.items() if text is not None}


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a JSON lines file, every one of which has to be whole."""
    data = path.read_bytes() if path.exists() else b""
    assert data == b"" or data.endswith(b"\n"), f"{path.name} ends in a torn line"
    return [msgspec.json.decode(line, type=dict[str, Any]) for line in data.split(b"\n")[:-1]]


def archived_texts(folder: Path) -> list[str]:
    return [line["entry"]["body"]["text"] for line in lines_of(folder / "archive.jsonl")]


def assert_files_whole(folder: Path) -> None:
    """Check that no file for people has a torn line, and no id stands twice."""
    ids = [line["id"] for line in lines_of(folder / "entries.jsonl")]
    assert len(ids) == len(set(ids))
    lines_of(folder / "archive.jsonl")


def assert_state(folder: Path, *allowed: State) -> State:
    """Open the store as after a crash and check that it holds one of the allowed states."""
    store = open_store(folder, disk=UnsyncedDisk())
    try:
        found = state_of(store)
        assert found in allowed, f"found {found}, not one of {allowed}"
        assert store.status().conflicts == 0, store.conflicts()
        return found
    finally:
        abandon(store)
