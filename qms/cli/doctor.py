"""`memoryctl doctor`: what is wrong on this machine, and what to do about it."""

from pathlib import Path

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.examining import Finding, examine
from qms.cli.target import Asked, checked_root
from qms.domain.errors import UnavailableError, invalid

_OWNER_ONLY = 0o600


@click.command(cls=Verb, example="memoryctl doctor --fix")
@click.option("--fix", is_flag=True, help="Close to others what only the owner is to read.")
@shared_options
def doctor(asked: Asked, fix: bool) -> None:
    """Look for what commonly goes wrong, and say what to do; exit code 6 when something must be."""
    if asked.url is not None:
        raise invalid("url", "a machine is looked at from itself: run it there, with --root")
    root = checked_root(asked)
    output.note(f"on the files in {root}")
    findings = [_mended(one) if fix else one for one in examine(root, asked)]
    if asked.as_json:
        output.answer({"findings": msgspec.to_builtins(findings)})
    else:
        for one in findings:
            _show(one)
    if any(one.problem and one.is_fatal for one in findings):
        raise click.exceptions.Exit(UnavailableError.exit_code)


def _mended(finding: Finding) -> Finding:
    """Return a finding after what can safely be done about it was done."""
    if not finding.opens_to_others:
        return finding
    Path(finding.opens_to_others).chmod(_OWNER_ONLY)
    output.note(f"done: {finding.fix}")
    return Finding(check=finding.check)


def _show(finding: Finding) -> None:
    if not finding.problem:
        output.styled_line(("ok    ", {"fg": "green"}), (finding.check, {}))
        return
    word, colour = ("wrong ", "red") if finding.is_fatal else ("note  ", "yellow")
    output.styled_line((word, {"fg": colour}), (f"{finding.check}: {finding.problem}", {}))
    output.line(f"      fix: {finding.fix}")
