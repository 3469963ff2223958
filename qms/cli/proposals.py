"""`memoryctl proposals`: what a language model proposes for memories, and what becomes of it."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.listing import format_option, is_text, show_text
from qms.cli.target import Asked, open_session
from qms.domain.entry import split_id
from qms.domain.errors import ConflictError
from qms.files.proposals import ProposalKind

_KINDS = [kind.value for kind in ProposalKind]


@click.group()
def proposals() -> None:
    """Decide about the tags and contradictions that a language model proposes."""


@proposals.command("list", cls=Verb, example="memoryctl proposals list --kind tags")
@click.option(
    "--kind", type=click.Choice([kind.value for kind in ProposalKind]), help="Only these."
)
@format_option
@shared_options
def list_proposals(asked: Asked, kind: str | None, form: str | None) -> None:
    """List proposals for memories that have not changed since, the newest first."""
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
        output.note("nothing is proposed")


@proposals.command("accept", cls=Verb, example="memoryctl proposals accept 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@shared_options
def accept(asked: Asked, ids: tuple[str, ...]) -> None:
    """Add the proposed tags, or state the proposed contradictions."""
    with open_session(asked) as session:
        answer = session.call(session.project, "acceptProposals", {"ids": ids})
    if asked.as_json:
        output.answer(answer)
    for entry_id in () if asked.as_json else answer["accepted"]:
        output.line(entry_id)
    if answer["refused"]:
        told = "; ".join(f"{one['id']}: {one['message']}" for one in answer["refused"])
        raise ConflictError(f"not all were accepted: {told}")


@proposals.command("dismiss", cls=Verb, example="memoryctl proposals dismiss 0f3c9a51b2d47e68")
@click.argument("ids", metavar="PROPOSAL...", nargs=-1, required=True)
@shared_options
def dismiss(asked: Asked, ids: tuple[str, ...]) -> None:
    """Forget proposals; no memory is changed."""
    with open_session(asked) as session:
        answer = session.call(session.project, "dismissProposals", {"ids": ids})
    if asked.as_json:
        output.answer(answer)
    else:
        output.note(f"{answer['dismissed']} dismissed")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    what = f"add {', '.join(item['tags'])}"
    if item["otherId"] is not None:
        what = f"contradicts {split_id(item['otherId'])[1]}: {item['why']}"
    return (item["id"], split_id(item["entryId"])[1], item["title"], what)
