"""`memoryctl remember`, `memoryctl update` and `memoryctl delete`."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_object, read_text, shared_options
from qms.cli.fields import KIND_NAMES, KINDS, entry_options
from qms.cli.reading import find
from qms.cli.target import Asked, Session, open_session
from qms.domain.bodies import Kind
from qms.domain.errors import ConflictError, QmsError, invalid


@click.command(
    cls=Verb,
    example='memoryctl remember "Staging runs PostgreSQL 16 on port 5433" --kind fact --tag db',
)
@click.argument("text", metavar="TEXT|-")
@click.option(
    "--kind",
    metavar="KIND",
    type=KINDS,
    default=Kind.NOTE.value,
    show_default=True,
    help=f"One of {KIND_NAMES}.",
)
@click.option("--id", "entry_id", metavar="ID", help="An id of your own; else one is made.")
@entry_options
@click.option(
    "--on-duplicate-title",
    type=click.Choice(["create", "update"]),
    help="When one of the same kind, namespace and title is there.",
)
@click.option("--if-version", metavar="VERSION", help="Replace only this version.")
@shared_options
def remember(
    asked: Asked,
    text: str,
    kind: str,
    entry_id: str | None,
    fields: dict[str, Any],
    on_duplicate_title: str | None,
    if_version: str | None,
) -> None:
    """Store a memory; - reads the text from standard input."""
    entry = {"kind": kind, "body": read_text(text, "text"), **fields}
    if entry_id is not None:
        entry["id"] = entry_id
    options = {"onDuplicateTitle": on_duplicate_title, "ifVersion": if_version}
    request = {"entry": entry} | {name: value for name, value in options.items() if value}
    with open_session(asked) as session:
        project = session.project if entry_id is None else session.project_of(entry_id)
        stored = session.call(project, "upsertEntry", request)
    show_stored(stored, as_json=asked.as_json)


def show_stored(stored: dict[str, Any], *, as_json: bool) -> None:
    """Print what became of an entry: its id as data, the rest beside it."""
    if as_json:
        output.answer(stored)
    else:
        output.line(stored["id"])
    if stored.get("duplicateOf"):
        output.note("it was there already")
    else:
        output.note(f"{'stored' if stored['created'] else 'updated'}, version {stored['version']}")
    for similar in stored["similar"]:
        output.note(f"similar: {similar['id']} {similar['title']}")
    for warning in stored["warnings"]:
        output.warning(warning)


@click.command(cls=Verb, example='memoryctl update release-train --title "Train" --tag release')
@click.argument("entry_id", metavar="ID")
@click.option("--body", metavar="TEXT|-", help="Its main text.")
@click.option("--kind", metavar="KIND", type=KINDS, help="Another kind for it.")
@entry_options
@click.option("--clear", metavar="FIELD", multiple=True, help="Empty a field; may be repeated.")
@click.option("--patch", metavar="JSON|-", help="An RFC 7386 merge patch; options go on top.")
@click.option("--if-version", metavar="VERSION", help="Change only this version.")
@shared_options
def update(
    asked: Asked,
    entry_id: str,
    body: str | None,
    kind: str | None,
    fields: dict[str, Any],
    clear: tuple[str, ...],
    patch: str | None,
    if_version: str | None,
) -> None:
    """Change some fields of a memory; tags and keywords are replaced, not added."""
    if body == "-" and patch == "-":
        raise invalid("body", "only one of --body and --patch can be standard input")
    change = read_object(patch, "patch") if patch is not None else {}
    change |= dict.fromkeys(clear) | fields
    if body is not None:
        change["body"] = read_text(body, "body")
    if kind is not None:
        change["kind"] = kind
    if not change:
        raise invalid("patch", "there is nothing to change: name a field, as in --title")
    request: dict[str, Any] = {"id": entry_id, "patch": change}
    if if_version is not None:
        request["ifVersion"] = if_version
    with open_session(asked) as session:
        changed = session.call(session.project_of(entry_id), "patchEntry", request)
    if asked.as_json:
        output.answer(changed)
    else:
        output.line(changed["entry"]["id"])
    output.note(f"updated, version {changed['version']}")
    for warning in changed.get("warnings", ()):
        output.warning(warning)


@click.command(cls=Verb, example="memoryctl delete default:release-train --yes")
@click.argument("entry_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--force", is_flag=True, help="Delete permanent ones too.")
@click.option("--if-version", metavar="VERSION", help="Delete only this version (of one memory).")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
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
        raise invalid("ifVersion", "fits one memory only: delete one at a time")
    options = {"force": force} | ({"ifVersion": if_version} if if_version else {})
    with open_session(asked) as session:
        if not dry_run and not yes and not _is_wanted(session, entry_ids):
            output.note("nothing was deleted")
            raise click.exceptions.Exit(1)
        one = _try_one if dry_run else _delete_one
        outcomes = {entry_id: one(session, entry_id, options) for entry_id in entry_ids}
    report_each(outcomes, as_json=asked.as_json, is_single=len(entry_ids) == 1)


def report_each(outcomes: dict[str, Any], *, as_json: bool, is_single: bool) -> None:
    """Print the answers by name, as the API gives them, and end with the first failure's code.

    Raises:
        QmsError: there is one outcome only, and it is a failure.
    """
    failures = {name: error for name, error in outcomes.items() if isinstance(error, QmsError)}
    if is_single and failures:
        raise next(iter(failures.values()))
    if as_json:
        answers = {
            name: value.as_object() if isinstance(value, QmsError) else value
            for name, value in outcomes.items()
        }
        output.answer(next(iter(answers.values())) if is_single else answers)
    for name, error in failures.items():
        output.failure(error, about=name)
    if failures:
        raise click.exceptions.Exit(next(iter(failures.values())).exit_code)


def _is_wanted(session: Session, entry_ids: tuple[str, ...]) -> bool:
    titles = [f"{entry_id} {find(session, entry_id)['entry']['title']!r}" for entry_id in entry_ids]
    return output.confirm(f"Delete {', '.join(titles)}?")


def _delete_one(session: Session, entry_id: str, options: dict[str, Any]) -> Any:
    try:
        project = session.project_of(entry_id)
        answer = session.call(project, "deleteEntry", {"id": entry_id, **options})
    except QmsError as error:
        return error
    output.note(f"{entry_id} deleted; it is kept in the archive")
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
