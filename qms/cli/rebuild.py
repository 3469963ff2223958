"""`memoryctl rebuild`: rebuild the indexes of projects and show the progress."""

import time
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.failures import report_each
from qms.cli.progress import ENTRIES, Progress
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import QmsError, UnavailableError

_PAUSE_S = 0.2


@click.command(cls=Verb, example="memoryctl rebuild default --vectors")
@click.option("--vectors", is_flag=True, help="Also embed every entry again.")
@click.option("--wait", is_flag=True, help="Wait until it is done, which it always does.")
@click.argument("projects", metavar="[PROJECT]...", nargs=-1)
@shared_options
def rebuild(asked: Asked, projects: tuple[str, ...], vectors: bool, wait: bool) -> None:  # noqa: ARG001 - other verbs have --wait, so people type it
    """Rebuild the indexes of the named projects, or of all; search stays available."""
    outcomes: dict[str, Any] = {}
    with open_session(asked) as session:
        named = projects or ((asked.project,) if asked.project else ())
        session.backend.work_on()
        for name in named or session.backend.projects():
            try:
                outcomes[name] = _rebuild(session, name, vectors=vectors)
            except QmsError as error:
                # One broken store does not stop the others.
                outcomes[name] = error
    if not asked.as_json:
        for name, answer in outcomes.items():
            if not isinstance(answer, QmsError):
                output.line(f"{name}: indexes rebuilt")
    report_each(outcomes, as_json=asked.as_json, is_single=len(named) == 1)


def _rebuild(session: Session, project: str, *, vectors: bool) -> Any:
    answer = session.call(project, "rebuildIndexes", {"vectors": vectors})
    progress = Progress()
    try:
        while not _is_done(session, project, answer, progress):
            time.sleep(_PAUSE_S)
    finally:
        progress.end()
    return answer


def _is_done(session: Session, project: str, answer: dict[str, Any], progress: Progress) -> bool:
    """Show the progress of a rebuild and return whether it is done.

    Raises:
        UnavailableError: it failed; the server tries again later.
    """
    report = session.call(project, "health", {})
    store = next(one for one in report["stores"] if one["name"].casefold() == project.casefold())
    for problem in report["problems"]:
        if problem["project"] == store["name"] and problem["code"] == "indexes":
            raise UnavailableError(problem["reason"])
    indexes, entries = store["indexes"], store["entries"]
    if indexes["rebuilds"] < answer["rebuild"]:
        progress.show(f"{project}: words", indexes["done"], max(indexes["total"], 1), ENTRIES)
        return False
    waiting = store["embeddingBacklog"] if answer["vectors"] else 0
    progress.show(f"{project}: words", entries, entries, ENTRIES)
    if answer["vectors"]:
        progress.show(f"{project}: vectors", entries - waiting, entries, ENTRIES)
    return waiting == 0
