"""Score a server, over HTTP, on questions with known answers.

Every store of a set goes into its own project. With --serve, servers are started for it and
deleted afterwards; your own server needs the empty projects PREFIX-1, PREFIX-2 and so on.

Example: python tools/eval_retrieval.py SETS/a.jsonl.gz SETS/b.jsonl.gz --serve
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from tools.benchmarks.longmemeval import NotTheFileError, read_longmemeval
from tools.benchmarks.retrieval_entries import Form, Times
from tools.benchmarks.retrieval_keyword import keyword_answers
from tools.benchmarks.retrieval_scores import Row, parts_of, rows_of, table
from tools.benchmarks.retrieval_served import Guest, Host, NotEmptyError
from tools.benchmarks.retrieval_sets import MemorySet, read_sets, set_files
from tools.benchmarks.server_process import NoServerError


@click.command(help=__doc__)
@click.argument("sets", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--longmemeval",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="LongMemEval's small cleaned file; its sha256 is checked.",
)
@click.option("--serve", is_flag=True, help="Start servers and delete them afterwards.")
@click.option(
    "--root", type=click.Path(path_type=Path), help="With --serve: keep the roots for later runs."
)
@click.option("--url", help="A running server, e.g. http://127.0.0.1:5080.")
@click.option("--key", envvar="QMS_KEY", help="An admin's or writer's key for it.")
@click.option("--prefix", default="scored", help="The prefix of the projects' names.")
@click.option(
    "--times",
    type=click.Choice(Times, case_sensitive=False),
    default=Times.TITLE,
    help="Which field gets the time of a turn.",
)
@click.option("--without-plain", is_flag=True, help="Leave out the rows without conversations.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def main(
    sets: tuple[Path, ...],
    longmemeval: Path | None,
    serve: bool,
    root: Path | None,
    url: str | None,
    key: str | None,
    prefix: str,
    times: Times,
    without_plain: bool,
    markdown: bool,
) -> None:
    if serve == bool(url):
        raise click.UsageError("give either --serve or --url")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="qms-scored-") as scratch:
        scorer = Guest(url, key or "", prefix) if url else Host(root or Path(scratch), prefix)
        try:
            for stores in _sets(sets, longmemeval):
                for row in _rows(stores, scorer, times, with_plain=not without_plain):
                    print(table([row]).split("\n")[1], file=sys.stderr)
                    rows.append(row)
        except (NotTheFileError, NotEmptyError, NoServerError) as error:
            raise click.ClickException(str(error)) from error
    print(table(rows, markdown=markdown))
    if not all(row.is_reached for row in rows):
        sys.exit(1)


def _sets(sets: tuple[Path, ...], longmemeval: Path | None) -> Iterator[list[MemorySet]]:
    for given in sets:
        for path in set_files(given):
            yield list(read_sets(path))
    if longmemeval is not None:
        yield list(read_longmemeval(longmemeval))


def _rows(
    stores: list[MemorySet], scorer: Guest | Host, times: Times, *, with_plain: bool
) -> Iterator[Row]:
    name = stores[0].set
    forms = {part.plain for part in parts_of(name) if with_plain or not part.plain}
    answered = {
        plain: list(scorer.answers(stores, Form(plain=plain, times=times)))
        for plain in sorted(forms)
    }
    yield from rows_of(name, answered, keyword_answers(stores))


if __name__ == "__main__":
    main()
