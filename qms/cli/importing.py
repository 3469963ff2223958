"""`memoryctl import`: the memories of an export, a folder or an archive, stored once."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.importing_run import Manner, Outcome, Present, run
from qms.cli.progress import Progress
from qms.cli.target import Asked, Session, open_session
from qms.domain.errors import invalid
from qms.ingest.exports import Export, open_export
from qms.ingest.importers.formats import FORMATS, Wanted, check_names
from qms.ingest.importers.guessing import guess_format

SHOWN_ALIKE = 10


@click.command("import", cls=Verb, example="memoryctl import memory.jsonl --dry-run")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice([str(form) for form in FORMATS]),
    help="What wrote the file; else its name and its beginning tell.",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be stored.")
@click.option("--all-or-nothing", is_flag=True, help="Store nothing when anything is broken.")
@click.option(
    "--map",
    "names",
    metavar="FIELD=NAME",
    multiple=True,
    help="What a column, or a field of front matter or JSON, stands for; may be repeated.",
)
@click.option("--trust-source", is_flag=True, help="Keep the authors that the file names.")
@click.option(
    "--exact", is_flag=True, help="Keep authors and times too; jsonl and json, by admins."
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
    """Store the memories of a file, folder or archive; what is there already is left as it is.

    An import that was cut off goes on where it was when it is called again.
    """
    given = read_names(names)
    form = form or guess_format(path)
    _check(path, form, given, exact=exact)
    manner = Manner(trusts_source=trust_source, is_exact=exact, is_dry=dry_run)
    with open_session(asked) as session, open_export(path, FORMATS[form].files) as export:
        wanted = Wanted(project=session.project, now=datetime.now(UTC), names=given)
        work = _Work(session, export, form, wanted)
        outcome = work.done(_dry(manner) if all_or_nothing else manner)
        if all_or_nothing and not dry_run and not outcome.problems:
            outcome = work.done(manner)
    if not outcome.found and not outcome.problems:
        raise invalid("path", f"{path} holds nothing of the format {form}")
    _report(outcome, as_json=asked.as_json)


class _Work:
    """One export and one project, which may be gone through more than once."""

    def __init__(self, session: Session, export: Export, form: str, wanted: Wanted) -> None:
        self._session = session
        self._export = export
        self._form = FORMATS[form]
        self._wanted = wanted
        self._present = Present.of(session)

    def done(self, manner: Manner) -> Outcome:
        """Return what became of everything in the export."""
        outcome = Outcome(dry_run=manner.is_dry)
        outcome.mapping = self._wanted.taken
        self._wanted.taken.update({name: field for field, name in self._wanted.names.items()})
        self._export.read_bytes = 0
        progress = Progress()
        total = self._export.total_bytes * self._form.passes
        try:
            items = self._form.read(self._export, self._wanted)
            for _ in run(items, self._session, manner, self._present.copy(), outcome):
                progress.show("import", self._export.read_bytes, total)
        finally:
            progress.end()
        return outcome


def read_names(given: Iterable[str]) -> dict[str, str]:
    """Return what the file calls each field.

    Raises:
        InvalidInputError: one is not FIELD=NAME.
    """
    pairs = [pair.partition("=") for pair in given]
    if bad := next((pair for pair in pairs if not (pair[0] and pair[2])), None):
        raise invalid("map", f"{''.join(bad)[:64]!r} is not FIELD=NAME")
    return {field: name for field, _, name in pairs}


def _check(path: Path, form: str, names: dict[str, str], *, exact: bool) -> None:
    check_names(form, names)
    if exact and (names or not FORMATS[form].is_exact):
        raise invalid("exact", "is for jsonl and json as this server writes them")
    if not path.is_file() and not path.is_dir():
        raise invalid("path", f"{path} is no file or folder")


def _dry(manner: Manner) -> Manner:
    return msgspec.structs.replace(manner, is_dry=True)


def _report(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        output.answer(msgspec.to_builtins(outcome))
    for line in _lines(outcome):
        output.note(line)
    outcome.end()


def _lines(outcome: Outcome) -> Iterator[str]:
    for name, field in outcome.mapping.items():
        if name != field:
            yield f"{name} was taken for {field}"
    for one in outcome.alike[:SHOWN_ALIKE]:
        yield f"{one.place}: {one.title!r} is also the title of {one.like}"
    if outcome.alike_count > SHOWN_ALIKE:
        yield f"and {outcome.alike_count - SHOWN_ALIKE:,} more with a title that is there"
    done = "would be stored" if outcome.dry_run else "stored"
    yield (
        f"{outcome.found:,} memories read; {outcome.imported:,} {done},"
        f" {outcome.known:,} were there already"
    )
