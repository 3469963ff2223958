"""eraseEntry: take an entry out of every file, for a secret that leaked."""

from qms.domain.errors import NotFoundError, StorageFullError, UnavailableError
from qms.files.backup_manifest import BrokenBackupError
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.store.erase import Traces
from qms.store.erase_backups import erase_from_backups, find_in_backups


class EraseRequest(Request, frozen=True):
    """Which entry, and whether to say only where it is found."""

    id: str
    dry_run: bool = False


class EraseAnswer(Response, frozen=True):
    """Where the entry was found, and whether it is gone from there."""

    id: str
    erased: bool
    found: Traces
    backups: int


def erase_entry(call: Call, request: EraseRequest) -> EraseAnswer:
    """Erase an entry from the store, what is kept beside it, its indexes and its backups."""
    entry_id, desk = call.own_id(request.id), call.house.desk
    if request.dry_run:
        found = call.store.eraser.find(entry_id)
        backups = find_in_backups(desk.shelf, call.project, entry_id)
        return EraseAnswer(id=entry_id, erased=False, found=found, backups=backups)
    # Beforehand; a living entry is in the log a second time, as removed.
    call.record("erase", entry_id)
    try:
        with desk.busy:
            found = call.store.eraser.erase(entry_id, call.origin)
            backups = erase_from_backups(desk.shelf, call.project, entry_id)
    except BrokenBackupError as error:
        raise UnavailableError(
            f"{entry_id} is gone from the store, not from all backups: {error};"
            " remove that backup and erase again"
        ) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise StorageFullError(
            f"{entry_id} is not erased everywhere: {reason}; do it again"
        ) from error
    call.store.usage.forget(entry_id, call.store.view.records)
    call.house.library.forget_texts(call.project)
    if not found.total and not backups:
        raise NotFoundError(f"{entry_id} is found nowhere", id=entry_id)
    return EraseAnswer(id=entry_id, erased=True, found=found, backups=backups)
