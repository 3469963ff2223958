"""`memoryctl gc`: archive expired memories now."""

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import Fields, removes


@click.command(cls=Verb, example="memoryctl gc --dry-run")
@removes(
    "gc",
    what="archive {expired} expired memories".format_map,
    done="{expired} archived",
    count="expired",
    none="nothing has expired",
)
def gc(answer: Fields) -> None:
    """Archive expired memories now; the server does it every few minutes."""
    for entry_id in answer["ids"]:
        output.line(entry_id)
