"""Reads the memory sets of the retrieval scores, which are not part of this repository."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec

from qms.memory.limits import DEFAULT_LIMITS


class Item(msgspec.Struct, frozen=True, rename="camel"):
    """One memory of a set."""

    id: str
    text: str
    title: str = ""
    conversation_id: str | None = None
    role: str | None = None
    when: str | None = None

    @property
    def kept_text(self) -> str:
        """The text, cut to the limit of an entry."""
        return self.text.encode()[: DEFAULT_LIMITS.text_bytes].decode(errors="ignore")


class Question(msgspec.Struct, frozen=True):
    """One question and the memories that answer it, each with its gain."""

    text: str
    gold: dict[str, float]
    type: str = ""


class MemorySet(msgspec.Struct, frozen=True):
    """The memories of one store in their order, and its questions."""

    set: str
    store: str
    docs: list[Item]
    questions: list[Question]


def read_sets(path: Path) -> Iterator[MemorySet]:
    """Yield the stores of a file of JSON lines, gzipped or plain."""
    decoder = msgspec.json.Decoder(MemorySet)
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)


def set_files(path: Path) -> list[Path]:
    """Return the files of a folder of sets, or the given file."""
    if path.is_dir():
        return sorted([*path.glob("*.jsonl.gz"), *path.glob("*.jsonl")])
    return [path]
