"""Dry run and confirmation, for verbs that remove something."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output


def removal_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--dry-run` and `--yes` to a verb."""
    function = click.option("--yes", is_flag=True, help="Skip the confirmation.")(function)
    return click.option("--dry-run", is_flag=True, help="Show what would happen.")(function)


def is_wanted(what: str, *, dry_run: bool, yes: bool) -> bool:
    """Ask for confirmation and return whether to proceed; a dry run only prints what would happen.

    Raises:
        Exit: the user declined.
    """
    if dry_run:
        output.note(f"would {what}")
        return False
    if not yes and not output.confirm(f"{what[:1].upper()}{what[1:]}?"):
        output.note("nothing was changed")
        raise click.exceptions.Exit(1)
    return True
