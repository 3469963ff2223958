"""What verbs that take something away have in common: a trial run, and a question."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output


def removal_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb `--dry-run` and `--yes`."""
    function = click.option("--yes", is_flag=True, help="Do not ask.")(function)
    return click.option("--dry-run", is_flag=True, help="Only say what would happen.")(function)


def is_wanted(what: str, *, dry_run: bool, yes: bool) -> bool:
    """Say whether to go ahead; after a trial run it was told what would happen.

    Raises:
        Exit: a person was asked and declined.
    """
    if dry_run:
        output.note(f"would {what}")
        return False
    if not yes and not output.confirm(f"{what[:1].upper()}{what[1:]}?"):
        output.note("nothing was changed")
        raise click.exceptions.Exit(1)
    return True
