"""`memoryctl history`: list the versions of a memory."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, open_session


@click.command(cls=Verb, example="memoryctl history release-train")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, help="Number of versions.")
@click.argument("entry_id", metavar="ID")
@shared_options
def history(asked: Asked, entry_id: str, limit: int) -> None:
    """List the versions of a memory in store, archive and backups, newest first."""
    with open_session(asked) as session:
        request = {"id": entry_id, "limit": limit, "full": asked.as_json}
        project = session.project_of(entry_id)
        answer = session.call(project, "history", request)
        if not answer["items"] and (whole := session.whole_id(entry_id, "history")) != entry_id:
            output.note(f"{entry_id} is {whole}")
            answer = session.call(project, "history", {**request, "id": whole})
    if asked.as_json:
        output.answer(answer)
        return
    head = ("VERSION", "WRITTEN", "BY", "ENDED", "WHY", "TITLE")
    output.table(head, [_row(item) for item in answer["items"]], flexible=5)
    if answer["omitted"]:
        output.note(f"{answer['omitted']} older versions not shown: raise --limit")


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    mark = "*" if item["isPresent"] else ""
    written, ended = item["writtenUtc"] or "", item["endedUtc"] or ""
    by, why = item["by"] or "", item["reason"] or ""
    return (item["version"] + mark, written, by, ended, why, item["title"])
