"""Framing: the conversations of an export, one at a time, as bytes, whatever the file's size.

Only brackets outside of strings are looked at; whether a frame is valid JSON is for its decoder to
say. Escapes are masked first, so that a plain search finds where each string ends: with that, most
of the bytes are passed over by the C code of `replace` and `re`.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

CHUNK_BYTES = 1 << 20
"""So much of a file is read at a time."""

MAX_FRAME_BYTES = 8 << 20
"""A larger conversation is taken apart into its messages; a larger message is left out."""

_FILL = rb'[^"{}\[\]]*+(?:"[^"]*+"[^"{}\[\]]*+)*+'
_NEXT = re.compile(_FILL + rb"[{}\[\]]")
_LEAF = rb"(?:\{" + _FILL + rb"\}|\[" + _FILL + rb"\])"
_NEXT_BUT_LEAVES = re.compile(_FILL + rb"(?:" + _LEAF + _FILL + rb")*+[{}\[\]]")
_OPENING = frozenset(b"{[")
_MESSAGE_LEVEL = 2
"""In a conversation, messages are what stands in its arrays and objects."""
_HEAD_BYTES = 4096
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One JSON value; `part_of` is how the value begins that was too large to come whole."""

    offset: int
    data: bytes
    part_of: bytes | None = None


class Lost(msgspec.Struct, frozen=True, gc=False):
    """What could not be framed, and why."""

    offset: int
    reason: str


Framed = Frame | Lost


def frame(chunks: Iterable[bytes]) -> Iterator[Framed]:
    """Yield the items of one JSON array, or the values that follow each other in a file."""
    source = iter(chunks)
    first = next(source, b"")
    if first.startswith(_UTF_16):
        yield Lost(0, "it is UTF-16: save it as UTF-8")
        return
    text = first.removeprefix(_BOM).lstrip()
    began = len(first) - len(text)
    if _begins_with_a_line(text):
        yield from frame_lines(source, first=text, offset=began)
        return
    framer = Framer(1 if text.startswith(b"[") else 0, offset=began)
    yield from framer.feed(text)
    for chunk in source:
        yield from framer.feed(chunk)
    yield from framer.end()


def frame_lines(
    chunks: Iterable[bytes], *, first: bytes = b"", offset: int = 0
) -> Iterator[Framed]:
    """Yield the lines of a file that are not blank; one that is broken costs no other."""
    parts: list[bytes] = []
    size = 0
    for chunk in chain((first,), chunks):
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            size += len(piece)
            yield from _line([*parts, piece], size, offset)
            offset += size + 1
            parts, size = [], 0
        size += len(rest)
        parts = [*parts, rest] if size <= MAX_FRAME_BYTES else []
    yield from _line(parts, size, offset)


class Framer:
    """Cuts out the values that stand `level` brackets deep; fed with one chunk after the other."""

    def __init__(self, level: int, *, offset: int = 0, splits: bool = True) -> None:
        self._level = level
        self._splits = splits
        self._depth = 0
        self._in_string = False
        self._held = b""
        self._offset = offset
        self._open: _OpenValue | None = None

    def feed(self, chunk: bytes) -> Iterator[Framed]:
        """Yield the values that end in the next chunk."""
        data = self._held + chunk
        self._held = b"\\" if _ends_in_an_escape(data) else b""
        data = data[: len(data) - len(self._held)]
        mask = data.replace(rb"\\", b"__").replace(rb"\"", b"__")
        position = mask.find(b'"') + 1 if self._in_string else 0
        if self._in_string and not position:
            yield from self._keep(data, 0)
            return
        start = 0
        while found := self._pattern().match(mask, position):
            position = found.end()
            if mask[position - 1] in _OPENING:
                if self._depth == self._level:
                    start = position - 1
                    self._open = _OpenValue(self._offset + start, splits=self._splits)
                self._depth += 1
                continue
            self._depth = max(0, self._depth - 1)
            if self._depth == self._level and self._open is not None:
                yield from self._open.add(data[start:position])
                yield from self._open.close()
                self._open = None
        self._in_string = mask.count(b'"', position) % 2 == 1
        yield from self._keep(data, start)

    def end(self) -> Iterator[Framed]:
        """Yield the messages of what the file ends inside of, and that it does."""
        if self._open is not None:
            yield from self._open.salvage()
            yield Lost(self._open.offset, "the file ends inside of it")
        self._open = None

    def _pattern(self) -> re.Pattern[bytes]:
        return _NEXT_BUT_LEAVES if self._depth > self._level else _NEXT

    def _keep(self, data: bytes, start: int) -> Iterator[Framed]:
        self._offset += len(data)
        if self._open is not None:
            yield from self._open.add(data[start:])


class _OpenValue:
    """A value whose end was not seen yet."""

    def __init__(self, offset: int, *, splits: bool) -> None:
        self.offset = offset
        self._splits = splits
        self._parts: list[bytes] = []
        self._size = 0
        self._head = b""
        self._inner: Framer | None = None

    def add(self, data: bytes) -> Iterator[Framed]:
        """Keep more of it, or hand on the messages of what grew too large."""
        self._size += len(data)
        self._parts.append(data)
        if self._size > MAX_FRAME_BYTES:
            yield from self.salvage()

    def salvage(self) -> Iterator[Framed]:
        """Yield the messages of what was kept so far, instead of the whole."""
        if self._splits and self._inner is None and self._parts:
            self._inner = Framer(_MESSAGE_LEVEL, offset=self.offset, splits=False)
            self._head = b"".join(self._parts)[:_HEAD_BYTES]
        if self._inner is not None:
            for part in self._parts:
                yield from map(self._part, self._inner.feed(part))
        self._parts = []

    def close(self) -> Iterator[Framed]:
        """Yield the value, or what is to be said of one that was too large."""
        if self._inner is not None:
            yield from map(self._part, self._inner.end())
        elif self._size > MAX_FRAME_BYTES:
            yield Lost(self.offset, f"it is larger than {MAX_FRAME_BYTES >> 20} MB")
        else:
            yield Frame(self.offset, b"".join(self._parts))

    def _part(self, framed: Framed) -> Framed:
        if isinstance(framed, Lost):
            return framed
        return Frame(framed.offset, framed.data, self._head)


def _begins_with_a_line(text: bytes) -> bool:
    """Say whether a file is one of lines: its first one is an object from end to end."""
    line, newline, _ = text.partition(b"\n")
    if not newline or not line.startswith(b"{"):
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except ValueError:
        return False
    return True


def _ends_in_an_escape(data: bytes) -> bool:
    return (len(data) - len(data.rstrip(b"\\"))) % 2 == 1


def _line(parts: list[bytes], size: int, offset: int) -> Iterator[Framed]:
    if size > MAX_FRAME_BYTES:
        yield Lost(offset, f"the line is larger than {MAX_FRAME_BYTES >> 20} MB")
    elif line := b"".join(parts).strip():
        yield Frame(offset, line)
