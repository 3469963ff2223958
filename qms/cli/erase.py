"""`memoryctl erase`: remove a memory from every file, backups included."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.target import Asked, open_session


@click.command(cls=Verb, example="memoryctl erase leaked-token --dry-run")
@removal_options
@click.argument("entry_id", metavar="ID")
@shared_options
def erase(asked: Asked, entry_id: str, dry_run: bool, yes: bool) -> None:
    """Erase a memory from all files, including backups; meant for leaked secrets."""
    with open_session(asked) as session:
        project = session.project_of(entry_id)
        answer = session.call(project, "eraseEntry", {"id": entry_id, "dryRun": True})
        places = {**answer["found"], "backups": answer["backups"]}
        if not any(places.values()):
            entry_id = session.whole_id(entry_id, "eraseEntry")
            answer = session.call(project, "eraseEntry", {"id": entry_id, "dryRun": True})
            places = {**answer["found"], "backups": answer["backups"]}
        for place, count in places.items():
            if count:
                output.note(f"{place}: {count}")
        if is_wanted(f"permanently erase {answer['id']}", dry_run=dry_run, yes=yes):
            answer = session.call(project, "eraseEntry", {"id": entry_id})
            output.note(f"{answer['id']} erased")
    if asked.as_json:
        output.answer(answer)
