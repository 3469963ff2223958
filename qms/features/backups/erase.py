"""eraseEntry: remove an entry from every file, backups included, after a secret leaked."""

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import Conditions, Response
from qms.features.backups.backup_manifest import BrokenBackupError
from qms.features.backups.erase_copies import erase_from_backups, find_in_backups
from qms.features.backups.queue import BackupQueue
from qms.memory.access import AccessTier
from qms.memory.errors import NotFoundError, StorageFullError, UnavailableError
from qms.store.erase import Traces


class EraseRequest(Conditions, frozen=True):
    """The entry to erase; a dry run only reports where it is found."""

    id: str
    dry_run: bool = False


class EraseAnswer(Response, frozen=True):
    """Where the entry was found, and whether it was erased."""

    id: str
    erased: bool
    found: Traces
    backups: int


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Erase an entry everywhere, backups included: for a secret that leaked",
    example={"id": EXAMPLE_ID, "dryRun": True},
    destructive=True,
    idempotent=True,
    care=True,
    after="dismissConflicts",
)
def erase_entry(call: Call, request: EraseRequest) -> EraseAnswer:
    """Erase an entry from the store, the files beside it, its indexes and its backups."""
    entry_id, queue = call.own_id(request.id), call.context.part(BackupQueue)
    if request.dry_run:
        found = call.store.eraser.find(entry_id)
        backups = find_in_backups(queue.backup_folder, call.store, entry_id)
        return EraseAnswer(id=entry_id, erased=False, found=found, backups=backups)
    # Recorded first; an entry that is in the store is recorded a second time, as removed.
    call.record("erase", entry_id)
    try:
        with queue.busy:
            found = call.store.eraser.erase(entry_id, call.origin)
            backups = erase_from_backups(queue.backup_folder, call.store, entry_id)
    except BrokenBackupError as error:
        raise UnavailableError(
            f"{entry_id} is erased from the store, but not from all backups: {error};"
            " remove that backup and erase again"
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageFullError(
            f"{entry_id} is not erased everywhere: {reason}; erase it again"
        ) from error
    call.store.usage.forget(entry_id, call.store.view.records)
    call.context.indexer.forget_texts(call.project)
    if not found.total and not backups:
        raise NotFoundError(f"{entry_id} is in no file of the project", id=entry_id)
    return EraseAnswer(id=entry_id, erased=True, found=found, backups=backups)
