"""The schedule of backups: when they are made by the clock, which, and how many are kept."""

from qms.config import toml_file
from qms.config.settings import BackupMode
from qms.service.admin.backups import Keep
from qms.service.admin.calls import AdminCall, Change, Changed


class ScheduleChange(Change, frozen=True, kw_only=True):
    """What `[global.backup]` should say; an empty cadence switches the clock off."""

    cadence: str
    time_zone: str
    mode: BackupMode
    keep: Keep


def set_schedule(call: AdminCall, request: ScheduleChange) -> Changed:
    """Change when backups are made by the clock."""
    wanted = {
        "cadence": request.cadence.strip(),
        "timeZone": request.time_zone,
        "mode": request.mode.value,
        "keep": request.keep,
    }
    version = call.edit(
        lambda text: toml_file.set_backup(text, wanted),
        request.if_version,
        op="update",
        target="backups/schedule",
        names={("global", "backup"): ""},
    )
    return Changed(version=version)
