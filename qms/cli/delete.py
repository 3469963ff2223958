"""`memoryctl delete`: move memories to the archive by id."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.failures import report_each
from qms.cli.get import find
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import ConflictError, QmsError, invalid


@click.command(cls=Verb, example="memoryctl delete default:release-train --yes")
@click.argument("entry_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Also delete permanent memories.")
@click.option("--if-version", metavar="VERSION", help="Delete only this version (of one memory).")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@shared_options
def delete(
    asked: Asked,
    entry_ids: tuple[str, ...],
    force: bool,
    if_version: str | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Move memories to the archive."""
    if if_version is not None and len(entry_ids) > 1:
        raise invalid("ifVersion", "works with one memory only: delete one at a time")
    options = {"force": force} | ({"ifVersion": if_version} if if_version else {})
    with open_session(asked) as session:
        if not dry_run and not yes and not _is_wanted(session, entry_ids):
            output.note("nothing was deleted")
            raise click.exceptions.Exit(1)
        one = _try_one if dry_run else _delete_one
        outcomes = {entry_id: one(session, entry_id, options) for entry_id in entry_ids}
    report_each(outcomes, as_json=asked.as_json, is_single=len(entry_ids) == 1)


def _is_wanted(session: Session, entry_ids: tuple[str, ...]) -> bool:
    titles = [f"{entry_id} {find(session, entry_id)['entry']['title']!r}" for entry_id in entry_ids]
    return output.confirm(f"Delete {', '.join(titles)}?")


def _delete_one(session: Session, entry_id: str, options: dict[str, Any]) -> Any:
    try:
        project = session.project_of(entry_id)
        answer = session.call(project, "deleteEntry", {"id": entry_id, **options})
    except QmsError as error:
        return error
    output.note(f"{entry_id} deleted; it is in the archive")
    return answer


def _try_one(session: Session, entry_id: str, options: dict[str, Any]) -> Any:
    try:
        entry = find(session, entry_id)["entry"]
    except QmsError as error:
        return error
    if entry.get("isPermanent") and not options["force"]:
        return ConflictError(f"entry {entry['id']} is permanent: pass --force to delete it")
    output.note(f"{entry['id']} {entry['title']!r} would be deleted")
    return {"deleted": False}
