"""Which scripts each server lives through, in their order."""

from tools.wire.scripts.admin import ADMIN
from tools.wire.scripts.core_reads import CORE_READS
from tools.wire.scripts.core_writes import CORE_WRITES
from tools.wire.scripts.documents import DOCUMENTS
from tools.wire.scripts.dropins import DROPINS
from tools.wire.scripts.lifecycle import LIFECYCLE
from tools.wire.scripts.memoryctl_files import MEMORYCTL_FILES
from tools.wire.scripts.memoryctl_served import MEMORYCTL_SERVED
from tools.wire.scripts.protocols import PROTOCOLS
from tools.wire.scripts.stdio import STDIO
from tools.wire.scripts.sync import SYNC
from tools.wire.scripts.system import SYSTEM
from tools.wire.steps import Script

FILES_ALONE = "files"
"""The part in which no server runs."""

LIVES: dict[str, dict[str, Script]] = {
    "main": {
        "core-writes": CORE_WRITES,
        "core-reads": CORE_READS,
        "lifecycle": LIFECYCLE,
        "documents": DOCUMENTS,
        "system": SYSTEM,
        "dropins": DROPINS,
        "protocols": PROTOCOLS,
        "admin": ADMIN,
    },
    "second": {"memoryctl-served": MEMORYCTL_SERVED},
    FILES_ALONE: {"memoryctl-files": MEMORYCTL_FILES},
    "third": {"sync": SYNC, "stdio": STDIO},
}
"""Scripts by the root that has a server meanwhile.

The life of a server ends before its timed jobs run a second time.
"""
