"""`memoryctl gc`: archive expired memories now."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.target import Asked, open_session


@click.command(cls=Verb, example="memoryctl gc --dry-run")
@removal_options
@shared_options
def gc(asked: Asked, dry_run: bool, yes: bool) -> None:
    """Archive expired memories now; the server does it every few minutes."""
    with open_session(asked) as session:
        answer = session.call(session.project, "gc", {"dryRun": True})
        count = answer["expired"]
        if not count:
            output.note("nothing has expired")
        elif is_wanted(f"archive {count} expired memories", dry_run=dry_run, yes=yes):
            answer = session.call(session.project, "gc", {})
            output.note(f"{answer['expired']} archived")
    if asked.as_json:
        output.answer(answer)
    else:
        for entry_id in answer["ids"]:
            output.line(entry_id)
