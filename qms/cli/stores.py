"""`memoryctl stores`: check and reload the files of projects, and decide about held deletions."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.failures import report_each
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import ConflictError, QmsError

_COUNTS = ("added", "changed", "removed", "conflicts", "problems")
_PROBLEMS_FOUND = 1

Outcomes = dict[str, Any]
"""By project: what the API answered, or the error it failed with."""


@click.group()
def stores() -> None:
    """Check and reload the files of the named projects, or of all projects you can access."""


def _projects_argument(function: Callable[..., None]) -> Callable[..., None]:
    return click.argument("projects", metavar="[PROJECT]...", nargs=-1)(shared_options(function))


def _decision_options(function: Callable[..., None]) -> Callable[..., None]:
    function = click.option("--yes", is_flag=True, help="Skip the confirmation.")(function)
    return click.option("--dry-run", is_flag=True, help="Show what is held.")(function)


@stores.command(cls=Verb, example="memoryctl stores verify")
@_projects_argument
def verify(asked: Asked, projects: tuple[str, ...]) -> None:
    """Read files again and check every line and relation; exit code 1 if there is a problem."""
    with open_session(asked) as session:
        outcomes, is_single = _ask_each(session, projects, "verifyStore")
    _show(outcomes, _show_problems, as_json=asked.as_json, is_single=is_single)
    if any(answer["items"] for answer in outcomes.values()):
        raise click.exceptions.Exit(_PROBLEMS_FOUND)


@stores.command(cls=Verb, example="memoryctl stores problems default")
@_projects_argument
def problems(asked: Asked, projects: tuple[str, ...]) -> None:
    """List unreadable lines and other problems that need attention."""
    with open_session(asked) as session:
        outcomes, is_single = _ask_each(session, projects, "listProblems")
    _show(outcomes, _show_problems, as_json=asked.as_json, is_single=is_single)


@stores.command(cls=Verb, example="memoryctl stores conflicts default --dismiss")
@click.option("--dismiss", is_flag=True, help="Move them to the archive.")
@click.option("--dry-run", is_flag=True, help="Show what would be dismissed.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
@_projects_argument
def conflicts(
    asked: Asked, projects: tuple[str, ...], dismiss: bool, dry_run: bool, yes: bool
) -> None:
    """List or dismiss conflict copies: versions that lost against a hand edit."""
    with open_session(asked) as session:
        outcomes, is_single = _ask_each(session, projects, "listConflicts")
        if dismiss and not dry_run:
            _dismiss(session, outcomes, is_single=is_single, yes=yes)
            return
    _show(outcomes, _show_conflicts, as_json=asked.as_json, is_single=is_single)


def _dismiss(session: Session, found: Outcomes, *, is_single: bool, yes: bool) -> None:
    open_projects = [name for name, answer in found.items() if not isinstance(answer, QmsError)]
    copies = sum(len(found[name]["items"]) for name in open_projects)
    if copies and not yes and not output.confirm(f"Move {copies} conflict copies to the archive?"):
        output.note("nothing was dismissed")
        raise click.exceptions.Exit(1)
    done = {name: _attempt(session, name, "dismissConflicts") for name in open_projects}
    _show(found | done, _show_dismissed, as_json=session.asked.as_json, is_single=is_single)


@stores.command("reload", cls=Verb, example="memoryctl stores reload default")
@_projects_argument
def reload_stores(asked: Asked, projects: tuple[str, ...]) -> None:
    """Read files now and apply hand edits."""
    with open_session(asked) as session:
        outcomes, is_single = _ask_each(session, projects, "reloadStore")
    _show(outcomes, _show_report, as_json=asked.as_json, is_single=is_single)


@stores.command(cls=Verb, example="memoryctl stores accept default")
@_decision_options
@_projects_argument
def accept(asked: Asked, projects: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Accept a held deletion: entries missing in the file go to the archive."""
    question = "Accept the deletions in"
    _decide(asked, projects, "acceptHeld", question, dry_run=dry_run, yes=yes)


@stores.command(cls=Verb, example="memoryctl stores reject default")
@_decision_options
@_projects_argument
def reject(asked: Asked, projects: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Reject a held deletion: entries missing in the file are written to it again."""
    question = "Restore the deleted entries in"
    _decide(asked, projects, "rejectHeld", question, dry_run=dry_run, yes=yes)


def _decide(
    asked: Asked,
    projects: tuple[str, ...],
    command: str,
    question: str,
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    with open_session(asked) as session:
        found, is_single = _ask_each(session, projects, "listProblems")
        held = [name for name, answer in found.items() if _held(answer)]
        _show_held(found)
        if dry_run:
            report_each(_only_held(found), as_json=asked.as_json, is_single=is_single)
            return
        if held and not yes and not output.confirm(f"{question} {', '.join(held)}?"):
            output.note("nothing was changed")
            raise click.exceptions.Exit(1)
        outcomes = _undecided(found, is_named=bool(_named(session, projects)))
        outcomes |= {name: _attempt(session, name, command) for name in held}
    if not outcomes:
        output.note("no held deletions")
    _show(outcomes, _show_report, as_json=asked.as_json, is_single=is_single)


def _undecided(found: Outcomes, *, is_named: bool) -> Outcomes:
    """Return the errors of projects that failed, or that were named and have nothing held."""
    failures: Outcomes = {}
    for name, answer in found.items():
        if isinstance(answer, QmsError):
            failures[name] = answer
        elif is_named and not _held(answer):
            reason = f"{name} has no held deletion"
            failures[name] = ConflictError(reason)
    return failures


def _named(session: Session, projects: tuple[str, ...]) -> tuple[str, ...]:
    """Return the projects that the command line names."""
    return projects or ((session.asked.project,) if session.asked.project else ())


def _ask_each(session: Session, projects: tuple[str, ...], command: str) -> tuple[Outcomes, bool]:
    """Run a command on each project; return the answers, and whether one project was named."""
    named = _named(session, projects)
    wanted = named or tuple(session.backend.projects())
    return {name: _attempt(session, name, command) for name in wanted}, len(named) == 1


def _attempt(session: Session, project: str, command: str) -> Any:
    try:
        return session.call(project, command, {})
    except QmsError as error:
        # One broken store does not stop the others.
        return error


def _held(outcome: Any) -> list[dict[str, Any]]:
    if isinstance(outcome, QmsError):
        return []
    return [problem for problem in outcome["items"] if problem["code"] == "held"]


def _only_held(found: Outcomes) -> Outcomes:
    return {
        name: answer if isinstance(answer, QmsError) else {"items": _held(answer)}
        for name, answer in found.items()
    }


def _show_held(found: Outcomes) -> None:
    for name, answer in found.items():
        for problem in _held(answer):
            output.note(f"{name}: {problem['reason']}")


def _show(
    outcomes: Outcomes,
    show: Callable[[str, dict[str, Any]], None],
    *,
    as_json: bool,
    is_single: bool,
) -> None:
    if not as_json:
        for name, answer in outcomes.items():
            if not isinstance(answer, QmsError):
                show(name, answer)
    report_each(outcomes, as_json=as_json, is_single=is_single)


def _show_problems(project: str, answer: dict[str, Any]) -> None:
    for problem in answer["items"]:
        file, line = problem.get("file"), problem.get("line")
        place = f"{file}:{line}" if line else file
        where = f"{project}: {place}" if place else project
        output.line(f"{where}: {problem['code']}: {problem['reason']}")
    for note in answer.get("notes", ()):
        output.note(f"{project}: {note['code']}: {note['reason']}")
    if not answer["items"]:
        output.note(f"{project}: no problems")


def _show_conflicts(project: str, answer: dict[str, Any]) -> None:
    for conflict in answer["items"]:
        title = conflict.get("entry", {}).get("title", "")
        written = conflict.get("writtenUtc", "")
        output.line(f"{conflict['id']}: {conflict['reason']}; kept copy: {written} {title}")
    if answer["items"]:
        output.hint("show the complete copies with --json")
    else:
        output.note(f"{project}: no conflicts")


def _show_dismissed(project: str, answer: dict[str, Any]) -> None:
    output.line(f"{project}: {answer['dismissed']} dismissed, {answer['left']} left")


def _show_report(project: str, answer: dict[str, Any]) -> None:
    output.line(f"{project}: " + ", ".join(f"{answer[name]} {name}" for name in _COUNTS))
    if answer["held"]:
        output.warning(f"{project}: a deletion is held")
        output.hint(
            f"run `memoryctl stores accept {project}` or `memoryctl stores reject {project}`"
        )
    if not answer["settled"]:
        output.warning(f"{project}: the file is still being written; it will be read again")
