"""backupStore: have a backup of a project made in the background."""

from qms.files.backup_manifest import BackupKind
from qms.service.backup_desk import Orderer
from qms.service.calls import Call
from qms.service.requests import Request, Response


class BackupRequest(Request, frozen=True):
    """What the backup is to hold: what changed since the last one, or everything."""

    mode: BackupKind = BackupKind.DIFFERENTIAL


class BackupAnswer(Response, frozen=True):
    """What was ordered; the first backup of a project holds everything, whatever was asked for."""

    queued: bool
    mode: BackupKind
    backup_id: str


def backup_store(call: Call, request: BackupRequest) -> BackupAnswer:
    """Order a backup of the project."""
    project = call.store.project
    orderer = Orderer(call.caller.user, call.caller.key_id, call.command)
    job = call.house.desk.order(project, request.mode, orderer)
    return BackupAnswer(queued=True, mode=job.mode, backup_id=job.id)
