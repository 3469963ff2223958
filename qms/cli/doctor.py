"""`memoryctl doctor`: what is wrong on this machine, and what to do about it."""

from pathlib import Path
from typing import assert_never

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.examining import Finding, Remedy, examine
from qms.cli.local import now
from qms.cli.target import Asked, checked_root
from qms.domain.errors import QmsError, UnavailableError, invalid
from qms.fsio.disk import Disk
from qms.service.configuration import Configuration

_OWNER_ONLY = 0o600


@click.command(cls=Verb, example="memoryctl doctor --fix")
@click.option(
    "--fix",
    is_flag=True,
    help="Do what can be done without a risk: rights, missing folders, keys written as text.",
)
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
    if finding.remedy is None:
        return finding
    try:
        for target in finding.targets:
            _mend(finding.remedy, Path(target))
    except (OSError, QmsError) as error:
        output.warning(f"{finding.check} could not be mended: {error}")
        return finding
    output.note(f"done: {finding.fix}")
    return Finding(check=finding.check)


def _mend(remedy: Remedy, target: Path) -> None:
    match remedy:
        case Remedy.CLOSE:
            target.chmod(_OWNER_ONLY)
        case Remedy.MAKE_FOLDER:
            target.mkdir(parents=True)
        case Remedy.SEAL_KEYS:
            Configuration(target, Disk(), now).load(makes_admin=False)
        case _:
            assert_never(remedy)


def _show(finding: Finding) -> None:
    if not finding.problem:
        output.styled_line(("ok    ", {"fg": "green"}), (finding.check, {}))
        return
    word, colour = ("wrong ", "red") if finding.is_fatal else ("note  ", "yellow")
    output.styled_line((word, {"fg": colour}), (f"{finding.check}: {finding.problem}", {}))
    output.line(f"      fix: {finding.fix}")
