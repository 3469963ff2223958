"""A root with one store and its backups, without HTTP: for histories, crashes and damage."""

from datetime import datetime
from pathlib import Path

from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from qms.features.backups.backup_manifest import BackupKind, Manifest
from qms.features.backups.queue import BackupQueue, Requester
from qms.features.backups.restore import Restored, Target, restore
from qms.features.backups.verify import verify
from qms.memory.access import LOCAL_ADMIN, AccessTier
from qms.memory.entry_input import EntryRules, new_document, replaced_document
from qms.store.catalog import Catalog
from qms.store.draft import Draft
from qms.store.memory_store import MemoryStore
from qms.store.options import Origin, StoreOptions
from qms.telemetry.audit_log import AuditLog
from tests.support.house import Clock

PROJECT = "p"
RULES = EntryRules(project=PROJECT)

State = dict[str, str]


class Workshop:
    """One project of a root, with a clock that a test moves."""

    def __init__(
        self, root: Path, clock: Clock, disk: Disk, *, in_background: bool = False
    ) -> None:
        self.root = root
        self.clock = clock
        self.disk = disk
        self.backups = root / "Backups"
        toml = root / "QuickMemoryServer.toml"
        if not toml.exists():
            root.mkdir(parents=True, exist_ok=True)
            toml.write_text(f'[endpoint.{PROJECT}]\nslug = "{PROJECT}"\n', encoding="utf-8")
        self.configuration = Configuration(toml, disk, clock)
        self.configuration.load()
        self._audit = AuditLog(root / "logs" / "audit.jsonl", disk)
        self.catalog = Catalog(self._open)
        self.catalog.register([PROJECT])
        self.queue = BackupQueue(
            self.configuration,
            self.catalog,
            disk,
            audit=self._audit,
            clock=clock,
            in_background=in_background,
        )

    @property
    def store(self) -> MemoryStore:
        return self.catalog.get(PROJECT)

    def write(self, **changes: str | None) -> None:
        """Make all changes in one commit; a text of None deletes."""

        def plan(draft: Draft) -> None:
            for local, text in changes.items():
                self._change(draft, local, text)

        self.store.commit(self.origin("upsertEntry"), plan)

    def back_up(self, mode: str = "differential") -> str:
        """Make a backup and return its id."""
        return self.queue.order(PROJECT, BackupKind(mode), Requester("tester")).id

    def verify(self, backup_id: str) -> Manifest:
        """Verify a backup."""
        return verify(self.queue.backup_folder, PROJECT, backup_id, StoreOptions(), self.clock)

    def restore(self, backup_id: str | None = None, at: datetime | None = None) -> Restored:
        """Restore a backup or a moment."""
        target = Target(backup_id=backup_id, at_utc=at)
        return restore(self.store, self.queue, target, self.origin("restoreBackup"))

    def state(self) -> State:
        """Return the texts of all entries."""
        documents = [record.document() for record in self.store.view.records.values()]
        return {one["id"].partition(":")[2]: one["body"]["text"] for one in documents}

    def edit_by_hand(self, local: str, text: str) -> None:
        """Fold, change the text of an entry in the file, and have it read."""
        self.store.fold()
        path = self.root / "MemoryStores" / PROJECT / "entries.jsonl"
        lines = path.read_bytes().split(b"\n")
        wanted = f'"id":"{PROJECT}:{local}"'.encode()
        old = self.state()[local].encode()
        changed = [
            one.replace(b'"text":"%s"' % old, b'"text":"%s"' % text.encode())
            if wanted in one
            else one
            for one in lines
        ]
        path.write_bytes(b"\n".join(changed))
        self.store.reload()

    def restart(self) -> None:
        """Close the store and open it again."""
        self.catalog.remove(PROJECT)
        self.catalog.register([PROJECT])

    def origin(self, command: str) -> Origin:
        return Origin(command=command, user="tester", at_utc=self.clock(), right=AccessTier.ADMIN)

    def close(self) -> None:
        """Close the store and the audit log."""
        self.catalog.close()
        self._audit.close()

    def _change(self, draft: Draft, local: str, text: str | None) -> None:
        entry_id, now = f"{PROJECT}:{local}", self.clock()
        if text is None:
            draft.remove(entry_id)
            return
        given = {"id": local, "kind": "note", "title": local, "body": text}
        record = draft.get(entry_id)
        if record is None:
            document = new_document(given, local_id=local, now=now, caller=LOCAL_ADMIN, rules=RULES)
        else:
            document = replaced_document(
                given, record.document(), now=now, caller=LOCAL_ADMIN, rules=RULES
            )
        draft.put(document)

    def _open(self, project: str) -> MemoryStore:
        folder = self.root / "MemoryStores" / project
        folder.mkdir(parents=True, exist_ok=True)
        return MemoryStore.open(
            folder,
            project,
            disk=self.disk,
            options=StoreOptions(),
            backup_root=self.backups,
            clock=self.clock,
        )
