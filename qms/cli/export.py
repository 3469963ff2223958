"""`memoryctl export`: write memories as JSON lines, JSON, Markdown or CSV, page by page."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import wire_fields
from qms.cli.lists import filter_options, pages
from qms.cli.progress import ENTRIES, Progress
from qms.cli.target import Asked, Session, open_session
from qms.features.transfer.export_forms import FORMS, Form, file_name
from qms.memory.errors import UnavailableError, invalid
from qms.memory.filters import Include

MARKDOWN = "markdown"
_OWNER_ONLY = 0o600

Pages = Iterator[list[dict[str, Any]]]


@click.command(cls=Verb, example="memoryctl export --format jsonl --output memories.jsonl")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMS)),
    default="jsonl",
    show_default=True,
    help="jsonl and json are complete; markdown is for reading, csv for spreadsheets.",
)
@click.option(
    "--output",
    "target",
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="File to write; for markdown a folder, one file per memory [standard output].",
)
@filter_options
@shared_options
def export(asked: Asked, form: str, target: Path | None, **wanted: Any) -> None:
    """Export the memories of a project, all or filtered, oldest first."""
    is_folder = target is not None and form == MARKDOWN
    _check(asked, target, is_folder=is_folder)
    with open_session(asked) as session:
        found = _pages(session, wanted, shows_progress=target is not None)
        try:
            if target is None:
                count = _write(output.data, FORMS[form], found)
            elif is_folder:
                count = _fill(target, FORMS[form], found)
            else:
                count = _replace(target, FORMS[form], found)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise UnavailableError(f"{target}: {error.strerror or error}") from error
        if asked.as_json:
            output.answer({"project": session.project, "exported": count, "path": str(target)})
    output.note(f"{count:,} memories written")


def _check(asked: Asked, target: Path | None, *, is_folder: bool) -> None:
    if asked.as_json and target is None:
        raise invalid("json", "needs --output; to print the memories as JSON use --format json")
    if target is None:
        return
    if is_folder and target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise invalid("output", f"{target} already exists: pass a new or empty folder")
    if not is_folder and target.is_dir():
        raise invalid("output", f"{target} is a folder: pass a file")


def _pages(session: Session, wanted: dict[str, Any], *, shows_progress: bool) -> Pages:
    request = {"filter": wire_fields(wanted), "sort": "created", "include": Include.FULL.value}
    progress, done = Progress(), 0
    is_counted = shows_progress and not request["filter"]
    total = session.call(session.project, "stats", {})["entries"] if is_counted else 0
    for page in pages(session, request):
        yield page["items"]
        done += len(page["items"])
        if is_counted:
            progress.show("export", done, total, ENTRIES)
    progress.end()


def _write(write: Any, form: Form, found: Pages) -> int:
    """Render and write all entries, one at a time, and return their number."""
    count = 0
    if form.head:
        write(form.head)
    for page in found:
        for entry in page:
            write(form.separator * bool(count) + form.render(entry))
            count += 1
    if form.foot:
        write(form.foot)
    return count


def _replace(target: Path, form: Form, found: Pages) -> int:
    """Write to a temporary file and rename it when it is complete; return the number of entries."""
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with _private(unfinished) as file:
            count = _write(lambda text: file.write(text + "\n"), form, found)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            unfinished.unlink()
    return count


def _fill(folder: Path, form: Form, found: Pages) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for page in found:
        for entry in page:
            with _private(folder / file_name(entry)) as file:
                file.write(form.render(entry) + "\n")
            count += 1
    return count


def _private(path: Path) -> TextIO:
    """Create a file that only its owner can read, like the files of a store."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="")
