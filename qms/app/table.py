"""The command table, collected from the modules that declare commands."""

from types import ModuleType

from qms.app import aliases
from qms.commands.command import Command, collect
from qms.dropins.ai_memory import archive as ai_memory_archive
from qms.dropins.ai_memory import consolidate as ai_memory_consolidate
from qms.dropins.ai_memory import search as ai_memory_search
from qms.dropins.ai_memory import single as ai_memory_single
from qms.dropins.ai_memory import stats as ai_memory_stats
from qms.dropins.ai_memory import store as ai_memory_store
from qms.dropins.server_memory import changes, read_graph
from qms.features.archive import archive, forget, undo_forget
from qms.features.audit import records
from qms.features.backups import administration, erase, history
from qms.features.consolidation import consolidate, duplicates
from qms.features.contradictions import contradictions
from qms.features.documents import get_document, references, store_document
from qms.features.entries import entries, remember
from qms.features.health import capabilities, describe, health, manual
from qms.features.lifespan import lifespan
from qms.features.links import links, related
from qms.features.lists import cold_start, list_entries, stats
from qms.features.projects import projects, settings_text
from qms.features.proposals import assist, proposals
from qms.features.recall import recall, search
from qms.features.stores import bad_lines, held, stores
from qms.features.summaries import summaries
from qms.features.sync import sync_commands
from qms.features.transfer import move, transfer
from qms.features.users import keys, permissions, sign_in, users

MODULES: tuple[ModuleType, ...] = (
    *(remember, recall),
    *(list_entries, entries, search, summaries, cold_start, related),
    *(health, describe, manual),
    *(lifespan, forget, undo_forget, links, duplicates, contradictions, consolidate, move),
    *(stats, capabilities, archive, history, assist, proposals),
    *(store_document, get_document, references),
    *(stores, erase, sync_commands),
    *(changes, read_graph),
    *(ai_memory_store, ai_memory_search, ai_memory_single, ai_memory_consolidate),
    *(ai_memory_stats, ai_memory_archive),
    *(sign_in, users, keys, permissions, projects, settings_text, held, bad_lines),
    *(administration, transfer, records, aliases),
)
"""The modules that declare commands, in the order in which lists name their commands."""

COMMANDS: tuple[Command, ...] = collect(MODULES)
"""The command table."""

TABLE: tuple[Command, ...] = tuple(row for row in COMMANDS if row.toolset is not None)
"""Its commands of projects."""

ADMIN_TABLE: tuple[Command, ...] = tuple(row for row in COMMANDS if row.route is not None)
"""Its commands of the administration."""
