"""`memoryctl proposals`: list, accept and dismiss the proposals of a language model."""

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import Columns, Fields, calls
from qms.cli.lists import format_option
from qms.cli.wire import PROPOSALS
from qms.memory.entry import split_id
from qms.memory.errors import ConflictError


@click.group()
def proposals() -> None:
    """List, accept and dismiss tags and contradictions proposed by a language model."""


def _what(item: Fields) -> str:
    if item["otherId"] is None:
        return f"add {', '.join(item['tags'])}"
    return f"contradicts {split_id(item['otherId'])[1]}: {item['why']}"


_PROPOSALS = Columns(
    {
        "PROPOSAL": "id",
        "MEMORY": lambda one: split_id(one["entryId"])[1],
        "TITLE": "title",
        "WHAT": _what,
    },
    flexible=3,
    empty="no proposals",
)


@proposals.command("list", cls=Verb, example="memoryctl proposals list --kind tags")
@click.option("--kind", type=click.Choice(PROPOSALS), help="Only proposals of this kind.")
@format_option
@calls("listProposals", _PROPOSALS)
def list_proposals() -> None:
    """List proposals, newest first; those for memories that have changed since are left out."""


def _fail_if_refused(answer: Fields) -> None:
    if answer["refused"]:
        told = "; ".join(f"{one['id']}: {one['message']}" for one in answer["refused"])
        raise ConflictError(f"some proposals were not accepted: {told}")


@proposals.command("accept", cls=Verb, example="memoryctl proposals accept 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@calls("acceptProposals", ends=_fail_if_refused)
def accept(answer: Fields) -> None:
    """Accept proposals: add their tags, or record their contradictions."""
    for entry_id in answer["accepted"]:
        output.line(entry_id)


@proposals.command("dismiss", cls=Verb, example="memoryctl proposals dismiss 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@calls("dismissProposals")
def dismiss(answer: Fields) -> None:
    """Dismiss proposals; no memory is changed."""
    output.note(f"{answer['dismissed']} dismissed")
