"""Checks whether other accounts of this machine can read a root."""

from pathlib import Path

from qms.config.settings import Settings
from qms.disk.permissions import find_exposed, rights_of, tightening
from qms.memory.errors import InvalidInputError


def why_exposed(root: Path, settings: Settings) -> str | None:
    """Return the file that others can read and the command that fixes it; change nothing."""
    group = settings.global_.group
    try:
        places = (root, settings.storage_folder(root), settings.backup_folder(root))
        for place in dict.fromkeys(places):
            if (found := find_exposed([place], rights_of(group))) is not None:
                return f"other accounts can read {found}: {tightening(place, group)}"
    except InvalidInputError:
        return None  # a misplaced folder is reported by itself
    return None
