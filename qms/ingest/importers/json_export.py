"""The JSON export of this server: one object with `entries`, or an array, of whatever size."""

from collections.abc import Iterator

from qms.ingest.importers.items import Broken, Item, Opener
from qms.ingest.importers.jsonl import read_entry
from qms.ingest.mining.frames import CHUNK_BYTES, Framed, Framer, Lost

_IN_AN_OBJECT, _IN_AN_ARRAY = 2, 1


def read_json_export(open_file: Opener, project: str) -> Iterator[Item]:
    """Yield every entry as one of `project`."""
    for framed in _frames(open_file):
        place = f"byte {framed.offset:,}"
        if isinstance(framed, Lost):
            yield Broken(place, "", framed.reason)
        else:
            yield read_entry(place, framed.data, project)


def _frames(open_file: Opener) -> Iterator[Framed]:
    with open_file() as file:
        chunk = file.read(CHUNK_BYTES)
        is_array = chunk.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
        framer = Framer(_IN_AN_ARRAY if is_array else _IN_AN_OBJECT, splits=False)
        while chunk:
            yield from framer.feed(chunk)
            chunk = file.read(CHUNK_BYTES)
    yield from framer.end()
