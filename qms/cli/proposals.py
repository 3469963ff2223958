"""`memoryctl proposals`: list, accept and dismiss the proposals of a language model."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import calls
from qms.cli.lists import format_option, is_text, show_text
from qms.cli.target import Asked, open_session
from qms.cli.wire import PROPOSALS
from qms.memory.entry import split_id
from qms.memory.errors import ConflictError


@click.group()
def proposals() -> None:
    """List, accept and dismiss tags and contradictions proposed by a language model."""


@proposals.command("list", cls=Verb, example="memoryctl proposals list --kind tags")
@click.option("--kind", type=click.Choice(PROPOSALS), help="Only proposals of this kind.")
@format_option
@shared_options
def list_proposals(asked: Asked, kind: str | None, form: str | None) -> None:
    """List proposals, newest first; those for memories that have changed since are left out."""
    request = {"kind": kind}
    if is_text(form):
        show_text(asked, "listProposals", {**request, "format": form})
        return
    with open_session(asked) as session:
        answer = session.call(session.project, "listProposals", request)
    if asked.as_json or form:
        output.answer(answer)
    elif answer["items"]:
        rows = [_row(item) for item in answer["items"]]
        output.table(("PROPOSAL", "MEMORY", "TITLE", "WHAT"), rows, flexible=3)
    else:
        output.note("no proposals")


def _fail_if_refused(answer: dict[str, Any]) -> None:
    if answer["refused"]:
        told = "; ".join(f"{one['id']}: {one['message']}" for one in answer["refused"])
        raise ConflictError(f"some proposals were not accepted: {told}")


@proposals.command("accept", cls=Verb, example="memoryctl proposals accept 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@calls("acceptProposals", ends=_fail_if_refused)
def accept(answer: dict[str, Any]) -> None:
    """Accept proposals: add their tags, or record their contradictions."""
    for entry_id in answer["accepted"]:
        output.line(entry_id)


@proposals.command("dismiss", cls=Verb, example="memoryctl proposals dismiss 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@calls("dismissProposals")
def dismiss(answer: dict[str, Any]) -> None:
    """Dismiss proposals; no memory is changed."""
    output.note(f"{answer['dismissed']} dismissed")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    what = f"add {', '.join(item['tags'])}"
    if item["otherId"] is not None:
        what = f"contradicts {split_id(item['otherId'])[1]}: {item['why']}"
    return (item["id"], split_id(item["entryId"])[1], item["title"], what)
