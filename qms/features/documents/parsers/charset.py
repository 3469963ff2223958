"""Text in an encoding that nothing names: found by its letters, in a worker."""

import codecs
import encodings.aliases
from contextlib import suppress

from charset_normalizer import from_bytes

from qms.features.documents.parsers.serve import serve
from qms.features.documents.pieces import Extracted, Piece, ReadLimits, TextMeter, UnreadableError
from qms.sandbox.child import Channel

_SAMPLE_BYTES = 256 * 1024
"""How much of a text is looked at to find its encoding."""

_CONTROLS = (*(chr(one) for one in range(32) if chr(one) not in "\t\n\r\f"), "\ufffd")
_WESTERN = "cp1252"
_WIDE = ("utf_16_le", "utf_16_be")

for _name in frozenset(encodings.aliases.aliases.values()):
    with suppress(LookupError):  # some exist on Windows only
        codecs.lookup(_name)  # no codec can be loaded behind the walls

from_bytes("Wärmt den Detektor auf.".encode("latin-1"))  # it loads more modules when first used


def work(channel: Channel) -> None:
    """Decode one text in a worker."""
    serve(channel, decoded)


def decoded(data: bytes, limits: ReadLimits) -> Extracted:
    """Return a text, as one piece, in the encoding that fits it best.

    Raises:
        UnreadableError: none fits, or it is no text at all.
    """
    name = _wide_without_mark(data) or _guessed(data)
    if name is None:
        raise UnreadableError("its bytes are not text in any encoding known here")
    text = TextMeter(limits).take(data.decode(name, "replace"))
    if sum(map(text.count, _CONTROLS)) * 20 > len(text):
        raise UnreadableError("its bytes are not text: too many of them are control characters")
    warning = f"the encoding was taken to be {name.replace('_', '-')}: nothing in the file names it"
    return Extracted(pieces=[Piece(text)], warnings=[warning])


def _wide_without_mark(data: bytes) -> str | None:
    """Return UTF-16 if every second byte is often zero, as in Western texts."""
    sample = data[:_SAMPLE_BYTES]
    odd, even = sample[1::2].count(0), sample[0::2].count(0)
    most = max(odd, even)
    if most * 4 < len(sample) // 2 or min(odd, even) * 10 > most:
        return None
    return _WIDE[0] if odd > even else _WIDE[1]


def _guessed(data: bytes) -> str | None:
    best = from_bytes(data[:_SAMPLE_BYTES]).best()
    if best is None:
        return None
    # Several encodings may read the same here: the most common of the West is the likely one.
    return _WESTERN if _WESTERN in best.could_be_from_charset else best.encoding
