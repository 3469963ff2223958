"""`memoryctl sync`: sync a project with another root or server."""

import os
from pathlib import Path

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.sync_run import Direction, Report, SyncSide, sync
from qms.cli.target import Asked, Session, open_peer, open_session
from qms.config.root import find_root
from qms.memory.errors import NotAuthenticatedError, QmsError, invalid

PEER_KEY_VARIABLE = "QMS_PEER_KEY"

_EXIT_CODES = {error.code: error.exit_code for error in QmsError.__subclasses__()}


@click.command("sync", cls=Verb, example="memoryctl sync /mnt/laptop/qms --direction merge")
@click.argument("peer", metavar="ROOT|URL")
@click.option(
    "--direction",
    type=click.Choice([one.value for one in Direction]),
    default=Direction.MERGE.value,
    show_default=True,
    help="Write here (pull), there (push), or on both sides.",
)
@click.option(
    "--peer-key", metavar="KEY", help="API key of the other server; safer in [QMS_PEER_KEY]."
)
@click.option("--dry-run", is_flag=True, help="Show what would happen.")
@shared_options
def sync_projects(
    asked: Asked, peer: str, direction: str, peer_key: str | None, dry_run: bool
) -> None:
    """Sync a project with the same project of another root or server; nothing is lost."""
    if not asked.server_url and _is_own_root(peer, asked):
        raise invalid("peer", "is the same root: pass another one")
    key = _key_of_peer(peer, asked, peer_key or os.environ.get(PEER_KEY_VARIABLE))
    with open_session(asked) as here, open_peer(peer, asked, key) as there:
        ours, theirs = _side("here", here, here.project), _side("there", there, here.project)
        report = sync(ours, theirs, Direction(direction), dry_run=dry_run)
    _show(report, as_json=asked.as_json)
    if report.faults:
        raise click.exceptions.Exit(_EXIT_CODES.get(report.faults[0].code, 1))


def _side(name: str, session: Session, project: str) -> SyncSide:
    return SyncSide(name, lambda command, request: session.call(project, command, request))


def _key_of_peer(peer: str, asked: Asked, given: str | None) -> str | None:
    """Return the key for the other side; this side's key is never sent to another server."""
    if given or not _is_url(peer):
        return given or asked.server_key
    error = NotAuthenticatedError(f"the server at {peer} requires its own key")
    error.add_note(f"set {PEER_KEY_VARIABLE}, or pass --peer-key")
    raise error


def _is_url(peer: str) -> bool:
    return peer.startswith(("http://", "https://"))


def _is_own_root(peer: str, asked: Asked) -> bool:
    return not _is_url(peer) and Path(peer).resolve() == find_root(asked.root).resolve()


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        output.answer(msgspec.to_builtins(report))
    else:
        word = "would be" if report.dry_run else "were"
        for name, counts in (("here", report.ours), ("there", report.theirs)):
            done = ", ".join(f"{number} {kind}d" for kind, number in sorted(counts.items()))
            output.line(f"{name}: {f'{word} {done}' if done else 'nothing to do'}")
    for entry_id in report.conflicts:
        output.warning(f"{entry_id} was changed on both sides: the earlier change is archived")
    for fault in report.faults:
        output.warning(f"{fault.side}: {fault.id} was skipped: {fault.message}")
