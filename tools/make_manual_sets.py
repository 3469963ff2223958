"""Make memory sets from the manual pages of this machine, for another domain and other languages.

A memory is the beginning of a page's text after its name and synopsis; the question is the line
that describes the program, and only that page answers it. For tools/eval_retrieval.py.

Example: python tools/make_manual_sets.py /tmp/sets --language de --language fr
"""

import gzip
import random
import re
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from tools.benchmarks.retrieval_sets import Item, MemorySet, Question

ENGLISH = "en"
FOLDER = Path("/usr/share/man")
SECTIONS = ("man1", "man8", "man5", "man7", "man2", "man3")
MOST_PAGES = 400
TEXT_CHARACTERS = 2_500
LEAST_TEXT_CHARACTERS = 300
LEAST_QUESTION_CHARACTERS = 12

_SEED = 1
_HEADING = re.compile(r"^\.SH\s+(.*)$", re.MULTILINE)
_NAME_LINE = re.compile(r".+?\s+-{1,2}\s+(.+)")
_FONT = re.compile(r"\\f[A-Z]|\\f\[[A-Z]*\]")
_SIGN = re.compile(r"\\\(..|\\\[[^\]]*\]")
_STYLED = re.compile(r"\.(?:B|I|BR|RB|IR|RI|BI|IB|SM|SB)\s+(.*)")


@click.command(help=__doc__)
@click.argument("target", type=click.Path(path_type=Path, file_okay=False))
@click.option("--language", "languages", multiple=True, default=(ENGLISH,), show_default=True)
@click.option("--manuals", type=click.Path(path_type=Path, exists=True), default=FOLDER)
def main(target: Path, languages: tuple[str, ...], manuals: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for language in languages:
        made = manual_set(manuals if language == ENGLISH else manuals / language, language)
        path = target / f"man-{language}.jsonl.gz"
        path.write_bytes(gzip.compress(msgspec.json.encode(made) + b"\n", mtime=0))
        print(f"{path}: {len(made.docs)} pages")


def manual_set(folder: Path, language: str) -> MemorySet:
    """Return a sample of the pages below a folder as memories, each with its question."""
    pages: dict[str, str] = {}
    for question, text in _pages(folder):
        pages.setdefault(question, text)
    chosen = sorted(pages.items())
    random.Random(_SEED).shuffle(chosen)
    numbered = [(f"d{number}", *page) for number, page in enumerate(chosen[:MOST_PAGES])]
    return MemorySet(
        set=f"man-{language}",
        store="1",
        docs=[Item(id=name, text=text) for name, _, text in numbered],
        questions=[Question(text=question, gold={name: 1}) for name, question, _ in numbered],
    )


def _pages(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the one-line description and the text of each page."""
    for section in SECTIONS:
        for path in sorted((folder / section).glob("*")):
            found = _page(_source(path))
            if found is not None:
                yield found


def _source(path: Path) -> str:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return data.decode(errors="replace")


def _page(source: str) -> tuple[str, str] | None:
    _, *parts = _HEADING.split(source)
    bodies = parts[1::2]
    if source.startswith(".so") or len(bodies) < len(("name", "synopsis", "description")):
        return None
    described = _NAME_LINE.match(_plain(bodies[0]))
    text = " ".join(map(_plain, bodies[2:]))[:TEXT_CHARACTERS]
    if described is None or len(text) < LEAST_TEXT_CHARACTERS:
        return None
    question = described[1]
    return (question, text) if len(question) >= LEAST_QUESTION_CHARACTERS else None


def _plain(roff: str) -> str:
    """Return the words of a part of a page, without formatting."""
    roff = _FONT.sub("", roff)
    for written, meant in (("\\-", "-"), ("\\(aq", "'"), ("\\&", ""), ("\\e", "\\")):
        roff = roff.replace(written, meant)
    lines = [_words(line) for line in _SIGN.sub(" ", roff).split("\n")]
    return " ".join(" ".join(lines).split())


def _words(line: str) -> str:
    if not line.startswith((".", "'")):
        return line
    styled = _STYLED.match(line)
    return styled[1].replace('"', "") if styled else ""


if __name__ == "__main__":
    main()
