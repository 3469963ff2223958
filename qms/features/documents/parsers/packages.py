"""ZIP packages: office files and EPUB, read within bounds and never unpacked to disk."""

import io
import lzma
import posixpath
import zipfile
import zlib
from urllib.parse import unquote

from qms.features.documents.parsers.xml_events import elements
from qms.features.documents.pieces import MEGABYTE, ReadLimits, UnreadableError

_SMALL_BYTES = MEGABYTE
"""A part that unpacks to less is no bomb, however well it is packed."""

_READ_BYTES = 64 * 1024
_ENCRYPTED_FLAG = 1
_MOST_PARTS = 20_000


_DAMAGES = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, OSError,
    ValueError,
)  # fmt: skip
"""What a damaged part, or a place outside of the file, makes the standard library raise."""


class Package:
    """The parts of a package, read one at a time."""

    def __init__(self, data: bytes, limits: ReadLimits) -> None:
        self._limits = limits
        self._left = limits.unpacked_bytes
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise UnreadableError(f"the package is damaged or cut off ({error})") from None
        parts = self._zip.infolist()
        if len(parts) > _MOST_PARTS:
            raise UnreadableError(f"the package has more than {_MOST_PARTS:,} parts")
        self._parts = {one.filename: one for one in parts}

    def __contains__(self, name: str) -> bool:
        """Say whether there is a part of this name."""
        return name in self._parts

    def read(self, name: str) -> bytes:
        """Return a part.

        Raises:
            UnreadableError: it is missing, damaged, encrypted, or unpacks to too much.
        """
        part = self._parts.get(name)
        if part is None:
            raise UnreadableError(f"the package lacks its part {name[:200]}")
        if part.flag_bits & _ENCRYPTED_FLAG:
            raise UnreadableError("the package is encrypted")
        try:
            return self._unpacked(part)
        except _DAMAGES as error:
            raise UnreadableError(f"its part {name[:200]} is damaged ({error})") from None

    def _unpacked(self, part: zipfile.ZipInfo) -> bytes:
        most = max(_SMALL_BYTES, part.compress_size * self._limits.ratio)
        taken = bytearray()
        with self._zip.open(part) as stream:
            while block := stream.read(_READ_BYTES):
                taken += block
                if len(taken) > most:
                    raise UnreadableError(
                        f"a part of it unpacks to more than {self._limits.ratio} times its size"
                    )
                if len(taken) > self._left:
                    megabytes = self._limits.unpacked_bytes // MEGABYTE
                    raise UnreadableError(f"it unpacks to more than {megabytes} MiB")
        self._left -= len(taken)
        return bytes(taken)

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return type and name of the parts that a part refers to, by relation id."""
        folder, file = posixpath.split(name)
        rels = posixpath.join(folder, "_rels", f"{file}.rels")
        if rels not in self:
            return {}
        return {
            one.get("Id", ""): (
                one.get("Type", "").rpartition("/")[2],
                inside(folder, one.get("Target", "")),
            )
            for one in elements(self.read(rels), "Relationship")
            if one.get("TargetMode") != "External"
        }


def inside(folder: str, target: str) -> str:
    """Return the name of a part that another part of `folder` refers to."""
    path = unquote(target.partition("#")[0])
    joined = path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
    return posixpath.normpath(joined)
