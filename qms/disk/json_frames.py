"""Splits a JSON file of any size into frames: one conversation at a time, as bytes.

Only brackets outside strings are examined; the decoder of a frame decides whether it is valid JSON.
Escapes are masked first, so that a plain search finds the end of each string: the C code of
`replace` and `re` then skips most of the bytes.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

CHUNK_BYTES = 1 << 20
"""The size of one read from a file."""

MAX_FRAME_BYTES = 8 << 20
"""A larger conversation is split into its messages; a larger message is skipped."""

_FILL = rb'[^"{}\[\]]*+(?:"[^"]*+"[^"{}\[\]]*+)*+'
_NEXT = re.compile(_FILL + rb"[{}\[\]]")
_LEAF = rb"(?:\{" + _FILL + rb"\}|\[" + _FILL + rb"\])"
_NEXT_BUT_LEAVES = re.compile(_FILL + rb"(?:" + _LEAF + _FILL + rb")*+[{}\[\]]")
_OPENING = frozenset(b"{[")
_MESSAGE_LEVEL = 2
"""In a conversation, messages are the items of its arrays and objects."""
_HEAD_BYTES = 4096
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One JSON value; `part_of` is the beginning of the larger value that it was split from."""

    offset: int
    data: bytes
    part_of: bytes | None = None


class Lost(msgspec.Struct, frozen=True, gc=False):
    """A part that could not be framed, and the reason."""

    offset: int
    reason: str


Framed = Frame | Lost


def frame(chunks: Iterable[bytes]) -> Iterator[Framed]:
    """Yield the items of a JSON array, or the values of a file that holds several."""
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
    """Yield the lines of a file that are not blank; a broken line does not affect others."""
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
    """Yields the values at a depth of `level` brackets from chunks fed in order."""

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
        """Yield the messages of a value that the file cuts off, and a `Lost` for it."""
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
        """Keep more bytes, or yield the messages of a value that has become too large."""
        self._size += len(data)
        self._parts.append(data)
        if self._size > MAX_FRAME_BYTES:
            yield from self.salvage()

    def salvage(self) -> Iterator[Framed]:
        """Yield the messages of the kept bytes, instead of the whole value."""
        if self._splits and self._inner is None and self._parts:
            self._inner = Framer(_MESSAGE_LEVEL, offset=self.offset, splits=False)
            self._head = b"".join(self._parts)[:_HEAD_BYTES]
        if self._inner is not None:
            for part in self._parts:
                yield from map(self._part, self._inner.feed(part))
        self._parts = []

    def close(self) -> Iterator[Framed]:
        """Yield the value, or a `Lost` for one that is too large."""
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
    """Say whether a file has one value per line: its first line is a whole object."""
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
