"""`memoryctl audit`: who changed what, and whether the log of it is whole."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.moments import moment_option, wire_text
from qms.cli.target import Asked, open_session

_BROKEN = 1


@click.group()
def audit() -> None:
    """Look at the audit log, a chain in which every record carries the hash of the one before."""


@audit.command(cls=Verb, example="memoryctl audit verify")
@shared_options
def verify(asked: Asked) -> None:
    """Check the whole chain and name the first bad record; exit code 1 when there is one."""
    with open_session(asked) as session:
        answer = session.administer("verifyAudit")
    bad = answer["bad"]
    if asked.as_json:
        output.answer(answer)
    elif bad is None:
        output.line(f"{answer['records']} records, none edited, removed or moved")
    else:
        output.line(f"line {bad['line']}: record {bad['seq']}: {bad['reason']}")
    if bad is not None:
        raise click.exceptions.Exit(_BROKEN)


@audit.command(cls=Verb, example="memoryctl audit tail --limit 20 --user alice")
@click.option("--limit", type=click.IntRange(1, 500), default=20, help="How many records.")
@click.option("--user", metavar="USER", help="What this user did.")
@click.option("--command", metavar="NAME", help="What was done with this command.")
@moment_option("--since", is_past=True, help="What was done since; 7d means days ago.")
@shared_options
def tail(asked: Asked, limit: int, user: str | None, command: str | None, since: Any) -> None:
    """Show the latest records, the newest last; of the project of --project, else of all."""
    asked_for = {
        "size": limit,
        "project": asked.project,
        "user": user,
        "command": command,
        "sinceUtc": None if since is None else wire_text(since),
    }
    with open_session(asked) as session:
        answer = session.administer("listAudit", **asked_for)
    if asked.as_json:
        output.answer(answer)
        return
    for record in reversed(answer["items"]):
        output.line(_line(record))
    if not answer["items"]:
        output.note("no such records")


def _line(record: dict[str, Any]) -> str:
    changes = ", ".join(f"{change['op']} {change['id']}" for change in record["changes"])
    who = record["user"] + (f" ({record['agentId']})" if record["agentId"] else "")
    what = f"{record['command']} in {record['project']}" if record["project"] else record["command"]
    return f"{record['seq']} {record['atUtc']} {who}: {what}: {changes}"
