"""The command table: one row for every operation that is offered to the outside."""

from qms.service.calls import Command
from qms.service.rows.ai_memory import AI_MEMORY
from qms.service.rows.core import CORE
from qms.service.rows.lifecycle import LIFECYCLE
from qms.service.rows.server_memory import SERVER_MEMORY
from qms.service.rows.system import SYSTEM

IMPORT_COMMANDS = frozenset({"bulkImport", "syncApply", "syncBase", "readImport"})
"""Commands whose request may be as large as the limit `importBytes`."""

TABLE: tuple[Command, ...] = (*CORE, *LIFECYCLE, *SYSTEM, *SERVER_MEMORY, *AI_MEMORY)
