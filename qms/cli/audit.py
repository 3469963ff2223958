"""`memoryctl audit`: show the audit log and verify its hash chain."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import calls
from qms.cli.instants import moment_option

_BROKEN = 1


@click.group()
def audit() -> None:
    """Show and verify the audit log; each record carries the hash of the one before it."""


def _fail_if_bad(answer: dict[str, Any]) -> None:
    if answer["bad"] is not None:
        raise click.exceptions.Exit(_BROKEN)


@audit.command(cls=Verb, example="memoryctl audit verify")
@calls("verifyAudit", ends=_fail_if_bad)
def verify(answer: dict[str, Any]) -> None:
    """Verify the hash chain and show the first bad record; exit code 1 if there is one."""
    if (bad := answer["bad"]) is None:
        output.line(f"{answer['records']} records, none edited, removed or moved")
    else:
        output.line(f"line {bad['line']}: record {bad['seq']}: {bad['reason']}")


@audit.command(cls=Verb, example="memoryctl audit tail --limit 20 --user alice")
@click.option("--limit", "size", type=click.IntRange(1, 500), default=20, help="Number of records.")
@click.option("--user", metavar="USER", help="Only this user.")
@click.option("--command", metavar="NAME", help="Only this command.")
@moment_option(
    "--since", "sinceUtc", is_past=True, help="Only records since then; 7d is 7 days ago."
)
@calls("listAudit", takes_project=True)
def tail(answer: dict[str, Any]) -> None:
    """Show the latest records, newest last; of one project with --project, else of all."""
    for record in reversed(answer["items"]):
        output.line(_line(record))
    if not answer["items"]:
        output.note("no matching records")


def _line(record: dict[str, Any]) -> str:
    changes = ", ".join(f"{change['op']} {change['id']}" for change in record["changes"])
    who = record["user"] + (f" ({record['agentId']})" if record["agentId"] else "")
    what = f"{record['command']} in {record['project']}" if record["project"] else record["command"]
    return f"{record['seq']} {record['atUtc']} {who}: {what}: {changes}"
