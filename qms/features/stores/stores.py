"""Maintenance commands of stores: reload, problems, conflicts, rebuild, verify."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_ID, command
from qms.commands.requests import Conditions, NoArguments, Request, Response
from qms.features.health import health
from qms.memory.access import AccessTier
from qms.memory.visibility import Visibility
from qms.store.memory_store import MemoryStore
from qms.store.options import Problem, ReloadReport


class ListedProblem(Response, frozen=True):
    """A problem to look at; without a project it concerns the whole server."""

    code: str
    project: str | None
    reason: str
    file: str | None = None
    line: int | None = None


class ProblemList(Response, frozen=True):
    """Problems to look at."""

    items: list[ListedProblem]


class VerifyAnswer(ProblemList, frozen=True):
    """Problems of a store, and notes on relations to archived entries, which are no problem."""

    notes: list[ListedProblem] | UnsetType = UNSET


class ConflictList(Response, frozen=True):
    """Conflict copies: each version that lost, and the version that won."""

    items: list[dict[str, Any]]


class DismissRequest(Conditions, frozen=True):
    """The entries whose conflict copies are dismissed; all when left out."""

    ids: list[str] | None = None


class DismissAnswer(Response, frozen=True):
    """The number of conflict copies moved to the archive, and of those left."""

    dismissed: int
    left: int


class RebuildRequest(Request, frozen=True):
    """Whether vectors are computed again too."""

    vectors: bool = False


class RebuildAnswer(Response, frozen=True):
    """The queued rebuild; it is done when `indexes.rebuilds` of the store's health reaches it."""

    queued: bool
    vectors: bool
    rebuild: int


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Look at the project's file now and merge what was edited by hand",
    idempotent=True,
    care=True,
)
def reload_store(call: Call, _request: NoArguments) -> ReloadReport:
    """Read the file now and merge edits made by hand; try a store that failed again."""
    return call.context.catalog.retry(call.project).reload()


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    route="GET /admin/stores/problems",
    help="List the lines that could not be read and other troubles of the store",
    read_only=True,
    idempotent=True,
    care=True,
)
def list_problems(call: Call, _request: NoArguments) -> ProblemList:
    """Return the problems of the project's store, or those of the server and its loaded stores."""
    if not call.has_project:
        return ProblemList(items=problems_in(call, call.opened))
    found = [*call.store.problems(), *call.context.indexer.problems(call.project)]
    return ProblemList(items=_listed(found))


def problems_in(call: Call, slugs: list[str]) -> list[ListedProblem]:
    """Return the problems of the server and of loaded stores; it waits for none."""
    return _listed(health.report(call.context, slugs, is_administrator=True).problems)


def _listed(problems: Iterable[Problem | health.ReportedProblem]) -> list[ListedProblem]:
    return [msgspec.convert(one, ListedProblem, from_attributes=True) for one in problems]


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    route="GET /admin/stores/conflicts",
    help="List the conflict copies: what lost against an edit by hand",
    read_only=True,
    idempotent=True,
    care=True,
)
def list_conflicts(call: Call, _request: NoArguments) -> ConflictList:
    """Return the conflict copies of the project's store, or of all loaded stores."""
    stores = {call.project: call.store} if call.has_project else loaded_stores(call, call.opened)
    copies = (copy for store in stores.values() for copy in store.conflicts())
    return ConflictList(items=[shown_conflict(one, call.visibility) for one in copies])


def loaded_stores(call: Call, slugs: list[str]) -> dict[str, MemoryStore]:
    """Return the stores of these projects that are loaded, by project."""
    stores = {slug: call.context.catalog.loaded(slug) for slug in slugs}
    return {slug: store for slug, store in stores.items() if store is not None}


def shown_conflict(copy: dict[str, Any], visibility: Visibility) -> dict[str, Any]:
    """Return a conflict copy without the hidden parts of its entry."""
    entry = copy.get("entry")
    return {**copy, "entry": visibility.shown(entry)} if isinstance(entry, dict) else copy


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Move conflict copies that were looked at to the archive, all without ids",
    example={"ids": [EXAMPLE_ID]},
    destructive=True,
    idempotent=True,
    care=True,
)
def dismiss_conflicts(call: Call, request: DismissRequest) -> DismissAnswer:
    """Move conflict copies to the archive."""
    ids = None if request.ids is None else {call.own_id(given) for given in request.ids}
    dismissed = call.store.dismiss_conflicts(ids, call.origin)
    return DismissAnswer(dismissed=dismissed, left=call.store.status().conflicts)


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Make the project's indexes anew in the background; health says how far it is",
    example={"vectors": True},
    idempotent=True,
    care=True,
)
def rebuild_indexes(call: Call, request: RebuildRequest) -> RebuildAnswer:
    """Queue a rebuild of the project's indexes; searches use the current ones until then."""
    project = call.store.project
    number = call.context.indexer.rebuild(project, vectors=request.vectors)
    return RebuildAnswer(queued=True, vectors=request.vectors, rebuild=number)


@command(
    tier=AccessTier.ADMIN,
    toolset="system",
    help="Read the project's file again and check every line and relation",
    read_only=True,
    idempotent=True,
    care=True,
)
def verify_store(call: Call, _request: NoArguments) -> ProblemList:
    """Read the file again and return its problems."""
    found = call.store.verify()
    return VerifyAnswer(items=_listed(found.problems), notes=_listed(found.notes) or UNSET)
