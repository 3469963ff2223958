"""Looking after one project's store: reload, held deletions, problems, conflicts, verification."""

from typing import Any

from qms.service.calls import Call
from qms.service.requests import NoArguments, Response
from qms.store.options import Problem, ReloadReport


class ProblemList(Response, frozen=True):
    """What a person should look at."""

    items: list[Problem]


class ConflictList(Response, frozen=True):
    """Conflict copies: the version that lost, and against what."""

    items: list[dict[str, Any]]


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
    """Return the problems that the store knows of."""
    return ProblemList(items=call.store.problems())


def list_conflicts(call: Call, _request: NoArguments) -> ConflictList:
    """Return the conflict copies."""
    return ConflictList(items=call.store.conflicts())


def verify_store(call: Call, _request: NoArguments) -> ProblemList:
    """Read the file again and return everything that is wrong with it."""
    return ProblemList(items=call.store.verify())
