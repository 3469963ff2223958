"""`memoryctl import`: import memories from a file, a folder or an archive."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.import_run import Manner, Outcome, Present, run
from qms.cli.progress import BYTES, Progress
from qms.cli.skipped import SHOWN_PROBLEMS
from qms.cli.target import Asked, Session, open_session
from qms.cli.vectors import missing_line, vectors_of
from qms.disk.export_files import Export, open_export
from qms.features.transfer.importers.detect import guess_format
from qms.features.transfer.importers.import_formats import FORMATS, Wanted, check_names, read_items
from qms.features.transfer.meter import Meter
from qms.memory.errors import QmsError, invalid

SHOWN_ALIKE = 10


@click.command("import", cls=Verb, example="memoryctl import memory.jsonl --dry-run")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice([str(form) for form in FORMATS]),
    help="Format of the file [detected from its name and content].",
)
@click.option("--dry-run", is_flag=True, help="Show what would be stored.")
@click.option("--all-or-nothing", is_flag=True, help="Store nothing if any item is invalid.")
@click.option(
    "--map",
    "names",
    metavar="FIELD=NAME",
    multiple=True,
    help="Map a column, or a field of front matter or JSON, to a field; may be repeated.",
)
@click.option("--trust-source", is_flag=True, help="Keep the authors named in the file.")
@click.option(
    "--exact", is_flag=True, help="Keep authors and times; jsonl and json only, admins only."
)
@shared_options
def import_memories(
    asked: Asked,
    path: Path,
    form: str | None,
    dry_run: bool,
    all_or_nothing: bool,
    names: tuple[str, ...],
    trust_source: bool,
    exact: bool,
) -> None:
    """Import the memories of a file, folder or archive; existing memories are not changed.

    Run an interrupted import again to continue it.
    """
    given = read_names(names)
    form = form or guess_format(path)
    _check(path, form, given, exact=exact)
    manner = Manner(trusts_source=trust_source, is_exact=exact, is_dry=dry_run)
    with open_session(asked) as session, open_export(path, FORMATS[form].files) as export:
        wanted = Wanted(project=session.project, now=datetime.now(UTC), names=given)
        task = _Import(session, export, form, wanted)
        outcome = task.run(_dry(manner) if all_or_nothing else manner)
        if all_or_nothing and not dry_run and not outcome.problems:
            outcome = task.run(manner)
        is_server = session.backend.makes_vectors
        if is_server and not outcome.dry_run:
            with suppress(QmsError):  # the result is reported anyway
                outcome.vectors = vectors_of(session, session.project)
    if not outcome.found and not outcome.problems:
        raise invalid("path", f"{path} contains nothing in the format {form}")
    _report(outcome, as_json=asked.as_json, is_server=is_server)


class _Import:
    """The import of one file into one project; with --all-or-nothing it runs twice."""

    def __init__(self, session: Session, export: Export, form: str, wanted: Wanted) -> None:
        self._session = session
        self._export = export
        self._name = form
        self._form = FORMATS[form]
        self._wanted = wanted
        self._present = Present.of(session)

    def run(self, manner: Manner) -> Outcome:
        """Import everything in the file and return the result."""
        outcome = Outcome(dry_run=manner.is_dry)
        outcome.mapping = self._wanted.taken
        self._wanted.taken.update({name: field for field, name in self._wanted.names.items()})
        self._export.read_bytes = 0
        progress = Progress()
        total = self._export.total_bytes * self._form.passes
        try:
            wanted = msgspec.structs.replace(self._wanted, meter=Meter())
            items = read_items(self._name, self._export, wanted)
            for _ in run(items, self._session, manner, self._present.copy(), outcome):
                progress.show("import", self._export.read_bytes, total, BYTES)
        finally:
            progress.end()
        return outcome


def read_names(given: Iterable[str]) -> dict[str, str]:
    """Parse `--map` options: from each field to its name in the file.

    Raises:
        InvalidInputError: an option is not FIELD=NAME.
    """
    pairs = [pair.partition("=") for pair in given]
    if bad := next((pair for pair in pairs if not (pair[0] and pair[2])), None):
        raise invalid("map", f"{''.join(bad)[:64]!r} is not FIELD=NAME")
    return {field: name for field, _, name in pairs}


def _check(path: Path, form: str, names: dict[str, str], *, exact: bool) -> None:
    check_names(form, names)
    if exact and (names or not FORMATS[form].is_exact):
        raise invalid("exact", "works only with jsonl and json exports of this server")
    if not path.is_file() and not path.is_dir():
        raise invalid("path", f"{path} is not a file or folder")


def _dry(manner: Manner) -> Manner:
    return msgspec.structs.replace(manner, is_dry=True)


def _report(outcome: Outcome, *, as_json: bool, is_server: bool) -> None:
    if as_json:
        output.answer(msgspec.to_builtins(outcome))
    for line in _lines(outcome):
        output.note(line)
    if vectors := _vector_line(outcome, is_server=is_server):
        output.note(vectors)
    for warning in outcome.warnings[:SHOWN_PROBLEMS]:
        output.warning(warning)
    if len(outcome.warnings) > SHOWN_PROBLEMS:
        output.warning(f"and {len(outcome.warnings) - SHOWN_PROBLEMS:,} more; --json lists them")
    outcome.end()


def _vector_line(outcome: Outcome, *, is_server: bool) -> str | None:
    if outcome.vectors is not None:
        return missing_line(outcome.vectors)
    if outcome.dry_run or not outcome.imported:
        return None
    if is_server:
        return "the server is embedding the new entries in the background"
    return (
        f"0 of {outcome.imported:,} stored entries have vectors yet;"
        " the server embeds them after its next start"
    )


def _lines(outcome: Outcome) -> Iterator[str]:
    for name, field in outcome.mapping.items():
        if name != field:
            yield f"{name} was mapped to {field}"
    for one in outcome.alike[:SHOWN_ALIKE]:
        yield f"{one.place}: {one.title!r} has the same title as {one.like}"
    if outcome.alike_count > SHOWN_ALIKE:
        yield f"and {outcome.alike_count - SHOWN_ALIKE:,} more with an existing title"
    done = "would be stored" if outcome.dry_run else "stored"
    refused = f", {outcome.problem_count:,} refused" if outcome.problem_count else ""
    yield (
        f"{outcome.found:,} memories read: {outcome.imported:,} {done},"
        f" {outcome.known:,} already existed{refused}"
    )
