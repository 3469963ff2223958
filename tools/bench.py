"""Measure the server against the raw cost of the same work in the same run.

Prints a table with the bound of every figure; exits with 1 if a bound is broken.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click
import msgspec

from qms.models.choose import model_folders, open_embedder
from tools.benchmarks import (
    backups,
    mcp_served,
    request_cost,
    search_cost,
    search_import,
    search_served,
    store_commits,
    store_loading,
    store_served,
    upsert_checks,
)
from tools.benchmarks import documents as document_files
from tools.benchmarks import hostile as hostile_inputs
from tools.benchmarks import mining as mining_exports
from tools.benchmarks import peers as memory_peers
from tools.benchmarks import retrieval as retrieval_rows
from tools.benchmarks import retrieval_documents as retrieved_documents
from tools.benchmarks import start as starts
from tools.benchmarks.agents import Load, make_root, put_load_on, wait_until
from tools.benchmarks.corpus import lines, make_store
from tools.benchmarks.measure import Bound, Plan, Row, Verdict, summary, table
from tools.benchmarks.retrieval_entries import Times
from tools.benchmarks.retrieval_scores import table as retrieval_table
from tools.benchmarks.retrieval_sets import set_files
from tools.benchmarks.retrieval_vectors import KeptVectors
from tools.benchmarks.search_corpus import WordVectors
from tools.benchmarks.search_corpus import make_root as make_search_root
from tools.benchmarks.served import serving

FULL = Plan(
    sizes=(1_000, 10_000, 100_000),
    rounds=5,
    writes=640,
    fold_s=25.0,
    bounds={
        "group-gain": Bound("≥", 20, "×"),
        "writes-per-sync": Bound("≥", 8),
        "http-extra": Bound("≤", 2, "ms"),
        "upsert-growth": Bound("≤", 1.3, "×"),
        "similar-ratio": Bound("≤", 1.5, "×"),
        "checks-ratio": Bound("≤", 1.5, "×"),
        "fold-share": Bound("≤", 5, "%"),
        "load-ratio": Bound("≤", 3, "×"),
        "memory": Bound("≤", 250, "MB"),
        "edit": Bound("≤", 1, "s"),
        "search-ratio": Bound("≤", 1.5, "×"),
        "search-http": Bound("≤", 2, "ms"),
        "search-wait": Bound("≤", 100, "ms"),
        "search-memory": Bound("≤", 500, "MB"),
        "recall": Bound("≥", 0.99),
        "open-ratio": Bound("≤", 2, "×"),
        "import-rate": Bound("≥", 4000, "/s"),
        "import-share": Bound("≥", 0.9, "×"),
        "import-search": Bound("≤", 3, "×"),
        "import-wait": Bound("≤", 150, "ms"),
        "embedding-share": Bound("≥", 80, "%"),
        "request-ratio": Bound("≤", 4, "×"),
    },
)
QUICK = msgspec.structs.replace(FULL, sizes=(1_000, 10_000), rounds=2, writes=128, fold_s=5.0)
MCP = Plan(
    sizes=(),
    rounds=7,
    writes=500,
    fold_s=0.0,
    bounds={
        "tool-ratio": Bound("≤", 1.3, "×"),
        "route-ratio": Bound("≤", 2.5, "×"),
        "start-ratio": Bound("≤", 1.35, "×"),
        "slow-ratio": Bound("≤", 2, "×"),
    },
)
BACKUP = Plan(
    sizes=(100_000,),
    rounds=5,
    writes=0,
    fold_s=0.0,
    bounds={
        "backup-ratio": Bound("≤", 3, "×"),
        "differential-ratio": Bound("≤", 20, "×"),
        "differential-size": Bound("≤", 100, "KB"),
        "search-during": Bound("≤", 1.5, "×"),
    },
)
HOSTILE = Plan(
    sizes=(10_000,),
    rounds=1,
    writes=300,
    fold_s=0.0,
    bounds={"hostile-wait": Bound("≤", 2000, "ms")},
)
START = Bound("≤", 1.6, "×")
SUBJECTS = ("group", "upsert", "checks", "folds", "loading", "http")
EDITS_AT = 10_000
MAX_GROWTH = 1.05
SETTLED_S = 900.0


@click.group(help=__doc__)
def main() -> None:
    # An installed server is compiled already; without a bytecode cache, compiling would be half
    # of each start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@main.command()
@click.option("--rounds", type=int, default=7, help="How many alternating rounds.")
@click.option(
    "--other",
    type=click.Path(path_type=Path, exists=True, resolve_path=True),
    help="Another checkout, measured in turn.",
)
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def start(rounds: int, other: Path | None, markdown: bool) -> None:
    """Measure the starts of memoryctl, qms mcp and qms serve.

    memoryctl is compared with a Python that only imports click, ssl, msgspec and http.client.

    Example: python tools/bench.py start --rounds 3
    """
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        _print(starts.start_rows(rounds, START, Path(scratch), other), markdown=markdown)


@main.command()
@click.option("--quick", is_flag=True, help="Fewer rounds and sizes.")
@click.option("--sizes", help="How many entries, e.g. 1000,100000.")
@click.option("--rounds", type=int, help="How many alternating rounds.")
@click.option("--only", multiple=True, type=click.Choice(SUBJECTS), help="Only this subject.")
@click.option("--bound", "bounds", multiple=True, help="Another bound, e.g. load-ratio=2.5.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
@click.option(
    "--folder", type=click.Path(path_type=Path, exists=True), help="Where the stores are made."
)
def store(
    quick: bool,
    sizes: str | None,
    rounds: int | None,
    only: tuple[str, ...],
    bounds: tuple[str, ...],
    markdown: bool,
    folder: Path | None,
) -> None:
    """Measure one project's store: commits, folds, loading, and both over HTTP.

    Example: python tools/bench.py store --quick --only loading
    """
    plan = _plan(QUICK if quick else FULL, sizes, rounds, bounds)
    with tempfile.TemporaryDirectory(dir=folder, prefix="qms-bench-") as scratch:
        _print(_store_rows(plan, Path(scratch), only or SUBJECTS), markdown=markdown)


@main.command()
@click.option("--quick", is_flag=True, help="Fewer rounds and calls.")
@click.option("--bound", "bounds", multiple=True, help="Another bound, e.g. tool-ratio=1.5.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def mcp(quick: bool, bounds: tuple[str, ...], markdown: bool) -> None:
    """Measure calls over MCP and plain JSON, and the start, against the bare libraries.

    Example: python tools/bench.py mcp --quick
    """
    plan = _plan(MCP, None, None, bounds)
    if quick:
        plan = msgspec.structs.replace(plan, rounds=2, writes=100)
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        _print(mcp_served.mcp_rows(plan, Path(scratch)), markdown=markdown)


@main.command()
@click.option("--entries", default=1000, help="How many entries each server holds.")
@click.option("--only", multiple=True, help="Only this server; its name as in the table.")
def peers(entries: int, only: tuple[str, ...]) -> None:
    """Measure our server and other memory servers on the same entries and queries.

    Install them with `python tools/toolbox.py server-memory mcp-memory-service basic-memory`.

    Example: python tools/bench.py peers --entries 300
    """
    there, missing = memory_peers.peers()
    figures = []
    with tempfile.TemporaryDirectory(prefix="qms-peers-") as scratch:
        for peer in there:
            if not only or peer.name in only:
                with _folder(Path(scratch)) as folder:
                    figures.append(memory_peers.measure(peer, folder, entries))
                print(f"{peer.name}: measured", file=sys.stderr, flush=True)
    print(memory_peers.table(figures))
    for name in missing:
        print(f"{name}: not installed, see tools/toolbox.py", file=sys.stderr)


@main.command()
@click.option("--sizes", help="How many entries, e.g. 10000,100000.")
@click.option("--rounds", type=int, help="How many alternating rounds.")
@click.option("--bound", "bounds", multiple=True, help="Another bound, e.g. backup-ratio=4.")
@click.option("--unserved", is_flag=True, help="Without a server, so without concurrent searches.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def backup(
    sizes: str | None, rounds: int | None, bounds: tuple[str, ...], unserved: bool, markdown: bool
) -> None:
    """Measure backups against a plain copy and one upsert, and searches during a backup.

    Example: python tools/bench.py backup --sizes 10000
    """
    plan = _plan(BACKUP, sizes, rounds, bounds)
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        _print(_backup_rows(plan, Path(scratch), is_served=not unserved), markdown=markdown)


def _backup_rows(plan: Plan, scratch: Path, *, is_served: bool) -> Iterator[Row]:
    for size in plan.sizes:
        with _folder(scratch) as folder:
            project = store_commits.PROJECT
            make_store(folder / project, project, lines(project, size))
            yield from backups.cost_rows(plan, folder, size)
            if is_served:
                yield backups.search_row(plan, folder, size)


@main.command()
@click.option("--sizes", default="10000,100000", help="How many entries; the long form: 1000000.")
@click.option("--rounds", default=3, help="How many rounds.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
@click.option(
    "--folder", type=click.Path(path_type=Path, exists=True), help="Where the stores are made."
)
@click.option("--imports", is_flag=True, help="Only what is measured during an import.")
def search(sizes: str, rounds: int, markdown: bool, folder: Path | None, imports: bool) -> None:
    """Measure search against raw tantivy and raw faiss, over HTTP, and the cost of its indexes.

    Example: python tools/bench.py search --sizes 100000
    """
    plan = _plan(FULL, sizes, rounds, ())
    with tempfile.TemporaryDirectory(dir=folder, prefix="qms-bench-") as scratch:
        _print(_search_rows(plan, Path(scratch), imports=imports), markdown=markdown)


def _search_rows(plan: Plan, scratch: Path, *, imports: bool) -> Iterator[Row]:
    shipped = open_embedder("models/embeddings.onnx", model_folders(scratch), threads=1).embedder
    for size in () if imports else plan.sizes:
        with _folder(scratch) as folder:
            embedder = WordVectors(shipped.model_id, shipped.dimension)
            make_search_root(folder, size, embedder)
            yield from search_cost.cost_rows(plan, folder, size, embedder)
            yield from search_served.served_rows(plan, folder, size, embedder)
    with _folder(scratch) as folder:
        yield from search_served.import_rows(plan, folder / "import")
        words = WordVectors(shipped.model_id, shipped.dimension)
        yield from search_import.import_rows(plan, folder / "served", words)
        yield search_import.embedding_row(plan, folder / "embedding", shipped)


@main.command()
@click.option("--sizes", help="How many entries, e.g. 10000.")
@click.option("--long", "is_long", is_flag=True, help="Also with 100,000 entries.")
@click.option("--rounds", default=4, help="How many rounds of five turns.")
@click.option(
    "--embedder",
    "embedders",
    multiple=True,
    type=click.Choice(["hash", "model"]),
    default=["hash", "model"],
    help="Only with this embedder.",
)
@click.option(
    "--before",
    type=click.Path(path_type=Path, exists=True),
    help="Another checkout with its own .venv, measured in turn.",
)
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def request(
    sizes: str | None,
    is_long: bool,
    rounds: int,
    embedders: tuple[str, ...],
    before: Path | None,
    markdown: bool,
) -> None:
    """Measure whole requests over plain JSON and MCP against tantivy, faiss and a bare route.

    Example: python tools/bench.py request --sizes 10000 --embedder hash --before ../before
    """
    plan = _plan(FULL if is_long else QUICK, sizes, rounds, ())
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        _print(_request_rows(plan, Path(scratch), embedders, before), markdown=markdown)


def _request_rows(
    plan: Plan, scratch: Path, embedders: tuple[str, ...], before: Path | None
) -> Iterator[Row]:
    for name in embedders:
        model = None
        if name == "model":
            model = open_embedder(
                "models/embeddings.onnx", model_folders(scratch), threads=1
            ).embedder
        for size in plan.sizes:
            with _folder(scratch) as folder:
                subject = request_cost.Subject(size, model, before)
                yield from request_cost.request_rows(plan, folder, subject)


@main.command()
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True),
    help="A memory set, or a folder of them.",
)
@click.option(
    "--vectors", type=click.Path(path_type=Path), help="A folder that keeps vectors for later runs."
)
@click.option("--model", default="models/embeddings.onnx", help="The embedding model, or hash.")
@click.option("--threads", default=1, help="How many threads the model may use.")
@click.option("--words", is_flag=True, help="Without any vectors.")
@click.option(
    "--times",
    type=click.Choice(Times, case_sensitive=False),
    default=Times.TITLE,
    help="Which field gets the time of a turn.",
)
def retrieval(
    data: Path, vectors: Path | None, model: str, threads: int, words: bool, times: Times
) -> None:
    """Score search in process on questions with known answers; for tuning.

    `tools/eval_retrieval.py` scores a server.

    Example: python tools/bench.py retrieval --data SETS --vectors /tmp/vectors
    """
    with tempfile.TemporaryDirectory(prefix="qms-vectors-") as scratch:
        kept = None
        if not words:
            chosen = open_embedder(model, model_folders(Path.cwd()), threads=threads)
            print(f"embedder: {chosen.report()}", file=sys.stderr)
            kept = KeptVectors(chosen.embedder, vectors or Path(scratch))
        rows = list(retrieval_rows.measure(set_files(data), kept, times))
    print(retrieval_table(rows))
    if not all(row.is_reached for row in rows):
        sys.exit(1)


@main.command("retrieval-documents")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True),
    help="A memory set, or a folder of them.",
)
@click.option(
    "--vectors", type=click.Path(path_type=Path), help="A folder that keeps vectors for later runs."
)
@click.option("--model", default="models/embeddings.onnx", help="The embedding model, or hash.")
@click.option("--threads", default=1, help="How many threads the model may use.")
@click.option("--stores", default=1000, help="At most so many stores of each set.")
def retrieval_documents(
    data: Path, vectors: Path | None, model: str, threads: int, stores: int
) -> None:
    """Score chunks of documents, with and without heading path and left context in vectors.

    Example: python tools/bench.py retrieval-documents --data SETS --vectors /tmp/vectors
    """
    with tempfile.TemporaryDirectory(prefix="qms-vectors-") as scratch:
        chosen = open_embedder(model, model_folders(Path.cwd()), threads=threads)
        kept = KeptVectors(chosen.embedder, vectors or Path(scratch))
        rows = list(retrieved_documents.measure(set_files(data), kept, stores))
    print(retrieved_documents.table(rows))


@main.command()
@click.option("--pages", default=300, help="How many pages the PDF files have.")
@click.option("--files", default=1000, help="How many Markdown files are synced.")
@click.option("--rounds", default=5, help="How many alternating rounds.")
@click.option(
    "--pdf",
    "given",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A PDF file of your own; only such files are measured.",
)
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def documents(pages: int, files: int, rounds: int, given: tuple[Path, ...], markdown: bool) -> None:
    """Measure PDF files beside pypdfium2 alone, the worker, and the sync of a folder.

    Example: python tools/bench.py documents --pages 50 --files 100
    """
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        rows = document_files.document_rows(Path(scratch), pages, files, rounds)
        if given:
            rows = document_files.given_rows(list(given), rounds)
        _print(rows, markdown=markdown)


@main.command()
@click.option("--seconds", default=60.0, help="How long the agents call.")
@click.option("--agents", default=50, help="How many agents, each with its own key.")
@click.option("--think", default=3.0, help="Seconds between two bursts of an agent, on average.")
def load(seconds: float, agents: int, think: float) -> None:
    """Let many agents search, write and list at once, and measure their waiting times.

    Example: python tools/bench.py load --seconds 900
    """
    wanted = Load(seconds=seconds, agents=agents, think_s=think)
    with tempfile.TemporaryDirectory(prefix="qms-load-") as scratch:
        root = Path(scratch) / "root"
        make_root(root, wanted)
        with serving(root, key=wanted.keys()[0]) as client:
            for project in wanted.projects():
                wait_until(partial(client.is_searched, project), SETTLED_S)
                wait_until(partial(client.has_vectors, project), SETTLED_S)
            met = put_load_on(client.url, client.process_id, wanted)
    print(met.summary())
    if met.faults or set(met.statuses) != {200} or met.growth() > MAX_GROWTH:
        print("\n".join(met.faults) or "BROKEN", file=sys.stderr)
        sys.exit(1)


@main.command()
@click.option("--megabytes", default=1000, help="How large the larger of the two exports is.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
@click.option(
    "--folder", type=click.Path(path_type=Path, exists=True), help="Where the exports are made."
)
def mining(megabytes: int, markdown: bool, folder: Path | None) -> None:
    """Measure how fast exported conversations are read and mined, and in how much RAM.

    Example: python tools/bench.py mining --megabytes 100
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="qms-bench-") as scratch:
        sizes = {"claude": megabytes, "chatgpt": max(1, megabytes // 4)}
        _print(mining_exports.mining_rows(Path(scratch), sizes), markdown=markdown)


@main.command()
@click.option("--sizes", help="How many entries the store holds, e.g. 10000.")
@click.option("--calls", type=int, help="How many calls of each kind are measured.")
@click.option("--only", multiple=True, help="Only this input; its name as in the table.")
@click.option("--bound", "bounds", multiple=True, help="Another bound, e.g. hostile-wait=500.")
@click.option("--markdown", is_flag=True, help="Print the table for a page.")
def hostile(
    sizes: str | None,
    calls: int | None,
    only: tuple[str, ...],
    bounds: tuple[str, ...],
    markdown: bool,
) -> None:
    """Measure health and searches of a client while another one sends hostile inputs.

    Example: python tools/bench.py hostile --only "100,000 anyTags"
    """
    plan = _plan(HOSTILE, sizes, None, bounds)
    plan = msgspec.structs.replace(plan, writes=calls or plan.writes)
    with tempfile.TemporaryDirectory(prefix="qms-bench-") as scratch:
        rows = hostile_inputs.hostile_rows(plan, Path(scratch), only=only)
        _print(rows, markdown=markdown)


def _print(measured: Iterable[Row], *, markdown: bool) -> None:
    """Print each row when it is measured, then the table; exit with 1 if a bound is broken."""
    rows = []
    for row in measured:
        print(f"{row.subject}, {row.entries:,}: {row.figure}", file=sys.stderr, flush=True)
        rows.append(row)
    print(f"{table(rows, markdown=markdown)}\n\n{summary(rows)}")
    if any(row.verdict is Verdict.BROKEN for row in rows):
        sys.exit(1)


def _plan(plan: Plan, sizes: str | None, rounds: int | None, bounds: tuple[str, ...]) -> Plan:
    if sizes:
        plan = msgspec.structs.replace(plan, sizes=tuple(map(int, sizes.split(","))))
    changed = dict(plan.bounds)
    for text in bounds:
        name, _, limit = text.partition("=")
        if name not in changed:
            raise click.BadParameter(f"{name} is not one of {', '.join(changed)}")
        changed[name] = msgspec.structs.replace(changed[name], limit=float(limit))
    return msgspec.structs.replace(plan, rounds=rounds or plan.rounds, bounds=changed)


def _store_rows(plan: Plan, scratch: Path, subjects: tuple[str, ...]) -> Iterator[Row]:
    makers: dict[str, Callable[[Plan, Path], Iterator[Row]]] = {
        "group": _group_rows,
        "upsert": _upsert_rows,
        "checks": _check_rows,
        "folds": _fold_rows,
        "loading": _loading_rows,
        "http": _http_rows,
    }
    for subject in SUBJECTS:
        if subject in subjects:
            yield from makers[subject](plan, scratch)


def _group_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    for size in plan.sizes:
        with _stores(scratch, (size,)) as folders:
            yield from store_commits.group_rows(plan, folders[size], size)


def _upsert_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    with _stores(scratch, plan.sizes) as folders:
        yield from store_commits.upsert_rows(plan, folders)


def _check_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    for size in plan.sizes:
        with _folder(scratch) as folder:
            yield from upsert_checks.check_rows(plan, folder / "root", size)


def _fold_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    for size in plan.sizes:
        with _stores(scratch, (size,)) as folders:
            yield store_commits.fold_row(plan, folders[size], size)


def _loading_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    for size in plan.sizes:
        with _folder(scratch) as folder:
            yield from store_loading.loading_rows(plan, folder, size)


def _http_rows(plan: Plan, scratch: Path) -> Iterator[Row]:
    for size in plan.sizes:
        with _folder(scratch) as folder:
            edits = size == EDITS_AT
            yield from store_served.served_rows(plan, folder, size, edits=edits)


@contextmanager
def _stores(scratch: Path, sizes: tuple[int, ...]) -> Iterator[dict[int, Path]]:
    with _folder(scratch) as folder:
        folders = {size: folder / str(size) for size in sizes}
        for size, path in folders.items():
            make_store(path, store_commits.PROJECT, lines(store_commits.PROJECT, size))
        yield folders


@contextmanager
def _folder(scratch: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
