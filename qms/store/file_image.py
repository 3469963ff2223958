"""The image of `entries.jsonl`: every line of the file as it was last read.

An image keeps the bytes of all lines, so that a fold copies what it does not change, and the entry
id of each line. Lines that are no entry have no id and are kept as well.
"""

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping
from itertools import count

import msgspec

from qms.disk.disk import FileIdentity
from qms.memory.hand_lines import BadLine, GoodLine, LineReader, bare
from qms.memory.ids import derived_local_id
from qms.memory.lines import decode_header
from qms.store.view import Record


class LineProblem(msgspec.Struct, frozen=True, gc=False):
    """A line that is not used as an entry, and why; `index` counts from 0."""

    index: int
    code: str
    reason: str
    entry_id: str | None = None

    def moved_by(self, lines: int) -> "LineProblem":
        """Return the same problem, moved down by this number of lines."""
        return LineProblem(self.index + lines, self.code, self.reason, self.entry_id)


class Image(msgspec.Struct, kw_only=True):
    """The lines of the file, in its order."""

    ids: list[str | None] = []
    raws: list[bytes] = []
    problems: list[LineProblem] = []
    kept: dict[str, bytes] = {}
    """Last good lines of entries whose line in the file is unreadable, by id."""
    digest: str = ""
    identity: FileIdentity | None = None

    def lines_by_id(self) -> dict[str, bytes]:
        """Return the bare line of every entry of the file, and the lines in `kept`."""
        lines = {
            entry_id: bare(raw)
            for entry_id, raw in zip(self.ids, self.raws, strict=True)
            if entry_id is not None
        }
        return {**self.kept, **lines}

    def lines_of(self, wanted: Container[str]) -> dict[str, bytes]:
        """Return the bare lines of those of these entries that the file has."""
        return {
            entry_id: bare(raw)
            for entry_id, raw in zip(self.ids, self.raws, strict=True)
            if entry_id is not None and entry_id in wanted
        }

    def known_lines(self, without: Container[str] = ()) -> dict[bytes, list[str]]:
        """Return the ids of each line: several when equal lines without an id occur."""
        known: dict[bytes, list[str]] = {}
        for entry_id, raw in zip(self.ids, self.raws, strict=True):
            if entry_id is not None and entry_id not in without:
                known.setdefault(raw, []).append(entry_id)
        return known

    def taken_ids(self) -> dict[str, None]:
        """Return the ids of the file's entries."""
        return dict.fromkeys(entry_id for entry_id in self.ids if entry_id is not None)

    def problems_by_line(self) -> dict[tuple[bytes, str], LineProblem]:
        """Return the problems by line text, since line numbers change with other edits."""
        return {
            (self.raws[one.index] if one.index < len(self.raws) else b"", one.code): one
            for one in self.problems
        }

    def other_lines(self) -> list[int]:
        """Return the positions of lines that are no entry."""
        if None not in self.ids:
            return []
        return [index for index, entry_id in enumerate(self.ids) if entry_id is None]


class FileReading(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a strict read: the image, and the entries whose lines are new."""

    image: Image
    fresh: dict[str, GoodLine]
    """Entries whose line is not one of the known ones, by id."""


def split_lines(data: bytes) -> list[bytes]:
    """Return the lines of a file; only the newline byte ends one."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def trusted_image(
    data: bytes, other_lines: list[int], reader: LineReader
) -> tuple[Image, list[Record]]:
    """Return image and entries of bytes that this server wrote or has read strictly before."""
    raws = split_lines(data)
    others = frozenset(other_lines)
    if not others and b"\r" not in data and not data.startswith(b"\xef"):
        records = [Record(decode_header(raw), raw) for raw in raws]
        return Image(ids=[record.header.id for record in records], raws=raws), records
    records = []
    image = Image(raws=raws)
    for index, raw in enumerate(raws):
        if index in others:
            image.ids.append(None)
            _note_other(image, index, bare(raw), reader)
            continue
        record = Record(decode_header(bare(raw)), bare(raw))
        image.ids.append(record.header.id)
        records.append(record)
    return image, records


def _note_other(image: Image, index: int, line: bytes, reader: LineReader) -> None:
    if not line:
        return
    match reader.read(line, lambda: "-"):
        case BadLine(code, reason, entry_id):
            image.problems.append(LineProblem(index, code, reason, entry_id))
        case GoodLine(header=header):
            image.problems.append(_repeated_id(index, header.id))


def read_image(
    data: bytes,
    known: Mapping[bytes, list[str]],
    reader: LineReader,
    taken: Mapping[str, object],
    given_before: Callable[[bytes], Iterable[str]] = lambda _line: (),
) -> FileReading:
    """Read a file that may have been edited by hand.

    `known` gives the ids of lines that were read before, `taken` the ids that are in use. A line
    without an id gets one that is derived from its text, so that reading it again before the server
    completed it gives the same id. `given_before` returns the ids it got in an older file.
    """
    image = Image(raws=split_lines(data))
    fresh: dict[str, GoodLine] = {}
    places: dict[str, int] = {}
    for index, raw in enumerate(image.raws):
        entry_id = _known_id(known.get(raw), places)
        if entry_id is None:
            entry_id = _read_fresh(image, index, reader, fresh, taken, given_before)
        image.ids.append(entry_id)
        if entry_id is None:
            continue
        if entry_id in places:
            image.ids[places[entry_id]] = None
            image.problems.append(_repeated_id(places[entry_id], entry_id))
            if raw in known:
                fresh.pop(entry_id, None)
        places[entry_id] = index
    image.problems.sort(key=lambda problem: problem.index)
    return FileReading(image=image, fresh=fresh)


def _known_id(ids: list[str] | None, places: Mapping[str, int]) -> str | None:
    if ids is None or len(ids) == 1:
        return ids[0] if ids else None
    return next((entry_id for entry_id in ids if entry_id not in places), None)


def _read_fresh(
    image: Image,
    index: int,
    reader: LineReader,
    fresh: dict[str, GoodLine],
    taken: Mapping[str, object],
    given_before: Callable[[bytes], Iterable[str]],
) -> str | None:
    line = bare(image.raws[index])
    if not line:
        return None

    def local_id() -> str:
        for entry_id in given_before(line):
            if entry_id not in fresh:
                return entry_id.partition(":")[2]
        for repetition in count():
            seed = b"%s\0%s\0%d" % (reader.project.encode("utf-8"), line, repetition)
            local = derived_local_id(hashlib.sha256(seed).digest())
            if (
                f"{reader.project}:{local}" not in taken
                and f"{reader.project}:{local}" not in fresh
            ):
                return local
        raise AssertionError("count() does not end")

    match reader.read(line, local_id):
        case GoodLine(header=header) as good:
            fresh[header.id] = good
            return header.id
        case BadLine(code, reason, entry_id):
            image.problems.append(LineProblem(index, code, reason, entry_id))
            return None


def _repeated_id(index: int, entry_id: str) -> LineProblem:
    return LineProblem(
        index,
        "duplicateId",
        f"the id {entry_id} occurs again further down: the last line counts",
        entry_id,
    )
