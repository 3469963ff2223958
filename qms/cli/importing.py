"""`memoryctl import`: the memories of an export, a folder or another server, stored once."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.listing import pages
from qms.cli.shortfalls import Shortfalls
from qms.cli.target import Asked, Session, open_session
from qms.domain.entry import Document
from qms.domain.errors import invalid
from qms.ingest.importers.formats import ImportFormat, read_memories
from qms.ingest.importers.items import Broken, Found, Item, restamped
from qms.ingest.importers.markdown import read_markdown

FORMATS = tuple(form.value for form in ImportFormat)
BATCH_ENTRIES = 200
BATCH_BYTES = 4 * 1024 * 1024


class Outcome(Shortfalls, kw_only=True, rename="camel"):
    """What became of an import, as `--json` prints it."""

    dry_run: bool
    found: int = 0
    imported: int = 0
    known: int = 0
    """Entries whose id was there, or that are the same as one that is."""


@click.command(
    "import", cls=Verb, example="memoryctl import memory.jsonl --format serverMemory --dry-run"
)
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option(
    "--format", "form", type=click.Choice(FORMATS), required=True, help="What wrote the file."
)
@click.option("--dry-run", is_flag=True, help="Only say what would be stored.")
@click.option(
    "--map",
    "columns",
    metavar="FIELD=COLUMN",
    multiple=True,
    help="In a csv, the column of a field; may be repeated.",
)
@click.option("--trust-source", is_flag=True, help="Keep the authors that the file names.")
@shared_options
def import_memories(
    asked: Asked,
    path: Path,
    form: str,
    dry_run: bool,
    columns: tuple[str, ...],
    trust_source: bool,
) -> None:
    """Store the memories of a file or folder; what is there already is left as it is."""
    _check(path, form, columns)
    outcome = Outcome(dry_run=dry_run)
    with open_session(asked) as session:
        items = _read(path, form, session.project, read_columns(columns))
        for batch in _batches(_new(items, _known_ids(session), outcome), trust_source):
            _store(session, batch, outcome)
    if not outcome.found and not outcome.problems:
        raise invalid("path", f"{path} holds nothing of the format {form}")
    _report(outcome, as_json=asked.as_json)


def read_columns(given: Iterable[str]) -> dict[str, str]:
    """Return which column each field stands in.

    Raises:
        InvalidInputError: one is not FIELD=COLUMN.
    """
    pairs = [pair.partition("=") for pair in given]
    if bad := next((pair for pair in pairs if not (pair[0] and pair[2])), None):
        raise invalid("map", f"{''.join(bad)[:64]!r} is not FIELD=COLUMN")
    return {field: column for field, _, column in pairs}


def _check(path: Path, form: str, columns: tuple[str, ...]) -> None:
    if columns and form != "csv":
        raise invalid("map", "is for --format csv: the other formats name their fields")
    if not (path.is_file() or (form == "markdown" and path.is_dir())):
        raise invalid("path", f"{path} is no file" + (" or folder" if form == "markdown" else ""))


def _new(items: Iterator[Item], known: set[str], outcome: Outcome) -> Iterator[Found]:
    """Yield what the project does not have yet, and count the rest."""
    for item in items:
        if isinstance(item, Broken):
            outcome.complain(str(item))
            continue
        outcome.found += 1
        if item.document.get("id") in known:
            outcome.known += 1
        else:
            yield item


def _batches(items: Iterator[Found], trust_source: bool) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for item in items:
        document = restamped(item.document, trusts_source=trust_source)
        batch.append(Found(item.place, document))
        size += len(msgspec.json.encode(document))
        if len(batch) >= BATCH_ENTRIES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read(path: Path, form: str, project: str, columns: dict[str, str]) -> Iterator[Item]:
    def open_file() -> IO[bytes]:
        return path.open("rb")

    if form == ImportFormat.MARKDOWN:
        return read_markdown(path, project)
    return read_memories(
        open_file,
        ImportFormat(form),
        project=project,
        name=path.name,
        columns=columns,
        now=datetime.now(UTC),
    )


def _known_ids(session: Session) -> set[str]:
    """Return the local ids of everything that the project holds."""
    found = pages(session, {"include": "ids", "sort": "created"})
    return {item["id"].partition(":")[2] for page in found for item in page["items"]}


def _store(session: Session, batch: list[Found], outcome: Outcome) -> None:
    entries: list[Document] = [item.document for item in batch]
    request = {"entries": entries, "dryRun": outcome.dry_run}
    answer = session.call(session.project, "bulkImport", request)
    outcome.imported += answer["imported"] + answer["updated"]
    outcome.known += answer["skipped"] - len(answer["errors"])
    for fault in answer["errors"]:
        outcome.complain(f"{batch[fault['index']].place}: {fault['message']}")


def _report(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        output.answer(msgspec.to_builtins(outcome))
    done = "would be stored" if outcome.dry_run else "stored"
    output.note(
        f"{outcome.found:,} memories read; {outcome.imported:,} {done},"
        f" {outcome.known:,} were there already"
    )
    outcome.end()
