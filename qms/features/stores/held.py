"""Deletions by hand that are held: list them, accept or reject one."""

from enum import StrEnum

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments, Request, Response
from qms.features.stores.stores import loaded_stores
from qms.store.options import ReloadReport


class HeldItem(Response, frozen=True):
    """A deletion that waits for a decision."""

    project: str
    reason: str


class HeldItems(Response, frozen=True):
    """Held deletions."""

    items: list[HeldItem]
    version: str


class HeldChoice(StrEnum):
    """The decision on a held deletion."""

    ACCEPT = "accept"
    REJECT = "reject"


class HeldDecision(Request, frozen=True):
    """`accept` takes the file as it is; `reject` writes the missing entries back."""

    project: str
    decision: HeldChoice


@command(
    route="GET /admin/held",
    help="List deletions by hand that wait for a decision",
)
def list_held(call: Call, _request: NoArguments) -> HeldItems:
    """Return the deletions that wait for a decision."""
    items = [
        HeldItem(project=slug, reason=problem.reason)
        for slug, store in loaded_stores(call, call.opened).items()
        for problem in store.problems()
        if problem.code == "held"
    ]
    return HeldItems(items=items, version=call.version)


@command(
    route="POST /admin/held/{project}",
    help="Accept or reject a held deletion",
    example={"project": "projA", "decision": "reject"},
    destructive=True,
)
def decide_held(call: Call, request: HeldDecision) -> ReloadReport:
    """Accept or reject a held deletion, with admin rights in that project."""
    project = call.administered(request.project)
    is_accepted = request.decision is HeldChoice.ACCEPT
    report = project.store.accept_held() if is_accepted else project.store.reject_held()
    project.record(request.decision.value, f"held/{project.project}")
    return report
