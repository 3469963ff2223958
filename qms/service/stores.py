"""Looking after one project's store: reload, held deletions, problems, conflicts, verification."""

from typing import Any

from qms.service.calls import Call
from qms.service.requests import NoArguments, Request, Response
from qms.store.options import Problem, ReloadReport


class ProblemList(Response, frozen=True):
    """What a person should look at."""

    items: list[Problem]


class ConflictList(Response, frozen=True):
    """Conflict copies: the version that lost, and against what."""

    items: list[dict[str, Any]]


class DismissRequest(Request, frozen=True):
    """Of which entries the conflict copies were looked at; of all when it is left out."""

    ids: list[str] | None = None


class DismissAnswer(Response, frozen=True):
    """How many conflict copies went to the archive, and how many are left."""

    dismissed: int
    left: int


class RebuildRequest(Request, frozen=True):
    """Whether vectors are to be computed again, too."""

    vectors: bool = False


class RebuildAnswer(Response, frozen=True):
    """What was asked for; it is done once `indexes.rebuilds` of the store's health reaches it."""

    queued: bool
    vectors: bool
    rebuild: int


def reload_store(call: Call, _request: NoArguments) -> ReloadReport:
    """Look at the file now and merge what a person changed; a store that failed is tried again."""
    return call.house.catalog.retry(call.project).reload()


def accept_held(call: Call, _request: NoArguments) -> ReloadReport:
    """Take the file as it is, with everything that is missing there."""
    return call.store.accept_held()


def reject_held(call: Call, _request: NoArguments) -> ReloadReport:
    """Keep what is in memory and write the file again."""
    return call.store.reject_held()


def list_problems(call: Call, _request: NoArguments) -> ProblemList:
    """Return the problems of the store and of its indexes."""
    return ProblemList(items=[*call.store.problems(), *call.house.library.problems(call.project)])


def list_conflicts(call: Call, _request: NoArguments) -> ConflictList:
    """Return the conflict copies."""
    return ConflictList(items=call.store.conflicts())


def dismiss_conflicts(call: Call, request: DismissRequest) -> DismissAnswer:
    """Move conflict copies that were looked at to the archive."""
    ids = None if request.ids is None else {call.own_id(given) for given in request.ids}
    dismissed = call.store.dismiss_conflicts(ids, call.origin)
    return DismissAnswer(dismissed=dismissed, left=call.store.status().conflicts)


def rebuild_indexes(call: Call, request: RebuildRequest) -> RebuildAnswer:
    """Have the indexes of the project made anew, while searches go on with those there are."""
    project = call.store.project
    number = call.house.library.rebuild(project, vectors=request.vectors)
    return RebuildAnswer(queued=True, vectors=request.vectors, rebuild=number)


def verify_store(call: Call, _request: NoArguments) -> ProblemList:
    """Read the file again and return everything that is wrong with it."""
    return ProblemList(items=call.store.verify())
