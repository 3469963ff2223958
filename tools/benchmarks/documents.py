"""Speed and RAM of reading documents beside the raw library, and the sync of a folder."""

import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pypdfium2 as pdfium

from qms.config.api_keys import hash_key
from qms.features.documents.document_formats import FileToRead
from qms.features.documents.extract import Extractor
from qms.features.documents.parsers.pdf import read_pdf
from qms.features.documents.pieces import ReadLimits
from qms.sandbox.child import echo
from qms.sandbox.walls import Bounds
from qms.sandbox.worker import Worker
from tools.benchmarks.measure import Bound, Row, Spent, alternate, both, duration, spend
from tools.benchmarks.served import serving

BOUNDS = {
    "pdf-ratio": Bound("≤", 1.3, "×"),
    "worker-memory": Bound("≤", 512, "MB"),
    "server-growth": Bound("≤", 64, "MB"),
    "sync-again": Bound("≤", 2, "s"),
}
SEED = 3
KEY = "qms_key_of_the_documents_benchmark"
_MEGABYTE = 1_000_000
_TEXT = (
    "harbour ferry lantern granite timber anchor committee report measure water level engine"
    " repair schedule operator contract winter storm signal bridge"
)
_WORDS = re.findall(r"\w+", _TEXT)


def document_rows(folder: Path, pages: int, files: int, rounds: int) -> Iterator[Row]:
    """Yield the figures of a PDF file with so many pages, and of a folder with so many files."""
    data = {"one column": make_pdf(pages), "two columns": make_pdf(pages, columns=2)}
    for name, one in data.items():
        yield _ratio_row(f"PDF, {name}: text and layout", pages, one, rounds)
    yield from _worker_rows(pages, data["one column"], rounds)
    yield from _sync_rows(folder, files)


def given_rows(paths: list[Path], rounds: int) -> Iterator[Row]:
    """Yield the ratio for PDF files of your own."""
    for path in paths:
        data = path.read_bytes()
        yield _ratio_row(path.name, len(pdfium.PdfDocument(data)), data, rounds)


def raw_text(data: bytes) -> int:
    """Read a PDF file as pypdfium2's own documentation does; return how much text there is."""
    document, length = pdfium.PdfDocument(data), 0
    for number in range(len(document)):
        page = document[number]
        text_page = page.get_textpage()
        length += len(text_page.get_text_range())
        text_page.close()
        page.close()
    return length


def make_pdf(pages: int, columns: int = 1) -> bytes:
    """Return a PDF file with pages of running text."""
    rng = random.Random(SEED)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in range(pages):
        resources = "/Resources << /Font << /F1 3 0 R >> >>"
        box = "/MediaBox [0 0 595 842]"
        contents = f"/Contents {5 + 2 * number} 0 R"
        objects.append(f"<< /Type /Page /Parent 2 0 R {box} {resources} {contents} >>".encode())
        stream = _page(rng, columns)
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
    return _joined(objects)


def _page(rng: random.Random, columns: int) -> bytes:
    parts, width = ["BT", "/F1 10 Tf"], 480 // columns
    for column in range(columns):
        for place in range(780, 60, -13):
            line = rng.choice(_WORDS).capitalize() if rng.random() < 0.2 else rng.choice(_WORDS)
            while len(line) * 4.9 < width - 60:
                line += f" {rng.choice(_WORDS)}"
            end = "." if rng.random() < 0.2 else ""
            parts.append(f"1 0 0 1 {60 + column * width} {place} Tm ({line}{end}) Tj")
    return "\n".join([*parts, "ET"]).encode()


def _joined(objects: list[bytes]) -> bytes:
    made, places = bytearray(b"%PDF-1.4\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, one)
    start, count = len(made), len(objects) + 1
    made += b"xref\n0 %d\n0000000000 65535 f \n" % count
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, start)
    return bytes(made)


def _ratio_row(subject: str, pages: int, data: bytes, rounds: int) -> Row:
    limits = ReadLimits()
    ours, raw = alternate(
        rounds, lambda: spend(lambda: read_pdf(data, limits)), lambda: spend(lambda: raw_text(data))
    )
    ratio, bound = ours.cpu_s / raw.cpu_s, BOUNDS["pdf-ratio"]
    return Row(
        subject=subject,
        entries=pages,
        ours=both(ours),
        raw=both(raw),
        figure=f"{ratio:.2f} ×",
        bound=str(bound),
        verdict=bound.judge(ratio),
    )


def _worker_rows(pages: int, data: bytes, rounds: int) -> Iterator[Row]:
    extractor = Extractor()
    before = psutil.Process().memory_info().rss
    started, read = alternate(
        rounds, lambda: _timed(_start_worker), lambda: _timed(lambda: extractor.read(_file(data)))
    )
    grown = (psutil.Process().memory_info().rss - before) / _MEGABYTE
    yield Row(
        subject="a locked worker, started and ended",
        entries=1,
        figure=duration(started.wall_s),
    )
    yield Row(
        subject="PDF, one column, through the worker",
        entries=pages,
        figure=f"{duration(read.wall_s)} wall",
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / _MEGABYTE
    for name, value, subject in (
        ("worker-memory", peak, "RAM of the worker at its peak"),
        ("server-growth", grown, "RAM of the server, grown"),
    ):
        yield Row(
            subject=subject,
            entries=pages,
            figure=f"{value:.0f} MB",
            bound=str(BOUNDS[name]),
            verdict=BOUNDS[name].judge(value),
        )


def _timed(action: Callable[[], object]) -> Spent:
    return spend(action)


def _file(data: bytes) -> FileToRead:
    return FileToRead(data, "bench.pdf")


def _start_worker() -> None:
    with Worker(f"{echo.__module__}:{echo.__name__}", Bounds()) as worker:
        worker.send(b"x")
        worker.receive()


def _sync_rows(folder: Path, files: int) -> Iterator[Row]:
    papers, root = folder / "papers", folder / "root"
    _make_papers(papers, files)
    _make_root(root)
    with serving(root, key=KEY) as client:
        first, again = (_sync(papers, client.url) for _ in range(2))
    yield Row(
        subject="Markdown files, memoryctl documents sync",
        entries=files,
        figure=f"{first:.1f} s",
    )
    yield Row(
        subject="and again without a change",
        entries=files,
        figure=f"{again:.1f} s",
        bound=str(BOUNDS["sync-again"]),
        verdict=BOUNDS["sync-again"].judge(again),
    )


def _make_papers(papers: Path, files: int) -> None:
    rng = random.Random(SEED)
    papers.mkdir()
    for number in range(files):
        parts = [f"# Paper {number}"]
        for part in range(4):
            parts.append(f"## Part {part}")
            parts.append(" ".join(rng.choice(_WORDS) for _ in range(120)) + ".")
        (papers / f"{number}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _make_root(root: Path) -> None:
    root.mkdir()
    (root / "QuickMemoryServer.toml").write_text(
        '[global.embedding]\nmodel = "hash"\n[global.rate]\nrequestsPerMinute = 0\n'
        '[endpoint.default]\nslug = "default"\ntoolsets = ["core", "lifecycle", "documents"]\n'
        f'[users.bench]\ntier = "admin"\nkeys = [{{ id = "0001", sha256 = "{hash_key(KEY)}" }}]\n',
        encoding="utf-8",
    )


def _sync(papers: Path, url: str) -> float:
    command = [sys.executable, "-m", "qms.cli.main", "documents", "sync", str(papers), "--yes"]
    command += ["--url", url, "--key", KEY, "--project", "default", "--json"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun
