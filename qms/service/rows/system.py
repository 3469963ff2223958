"""Toolset `system`: looking after the files and indexes of a project."""

from qms.domain.access import AccessTier
from qms.service import stores
from qms.service.calls import Command
from qms.service.requests import NoArguments
from qms.store.options import ReloadReport

_ID = "projA:01931c6e-0000-7000-8000-000000000000"

SYSTEM: tuple[Command, ...] = (
    Command(
        name="reloadStore",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=ReloadReport,
        handler=stores.reload_store,
        help="Look at the project's file now and merge what was edited by hand",
        example={},
        idempotent=True,
    ),
    Command(
        name="acceptHeld",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=ReloadReport,
        handler=stores.accept_held,
        help="Accept a held mass deletion: what is missing in the file goes to the archive",
        example={},
        destructive=True,
    ),
    Command(
        name="rejectHeld",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=ReloadReport,
        handler=stores.reject_held,
        help="Reject a held mass deletion: the file is written again from memory",
        example={},
        destructive=True,
    ),
    Command(
        name="listProblems",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=stores.ProblemList,
        handler=stores.list_problems,
        help="List the lines that could not be read and other troubles of the store",
        example={},
        read_only=True,
        idempotent=True,
    ),
    Command(
        name="listConflicts",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=stores.ConflictList,
        handler=stores.list_conflicts,
        help="List the conflict copies: what lost against an edit by hand",
        example={},
        read_only=True,
        idempotent=True,
    ),
    Command(
        name="dismissConflicts",
        toolset="system",
        least=AccessTier.ADMIN,
        request=stores.DismissRequest,
        response=stores.DismissAnswer,
        handler=stores.dismiss_conflicts,
        help="Move conflict copies that were looked at to the archive, all without ids",
        example={"ids": [_ID]},
        destructive=True,
        idempotent=True,
    ),
    Command(
        name="rebuildIndexes",
        toolset="system",
        least=AccessTier.ADMIN,
        request=stores.RebuildRequest,
        response=stores.RebuildAnswer,
        handler=stores.rebuild_indexes,
        help="Make the project's indexes anew in the background; health says how far it is",
        example={"vectors": True},
        idempotent=True,
    ),
    Command(
        name="verifyStore",
        toolset="system",
        least=AccessTier.ADMIN,
        request=NoArguments,
        response=stores.ProblemList,
        handler=stores.verify_store,
        help="Read the project's file again and check every line and relation",
        example={},
        read_only=True,
        idempotent=True,
    ),
)
