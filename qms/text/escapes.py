"""Escapes control, invisible and bidirectional characters, so that text is safe to display."""

import json
import re

_UNSAFE = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # C0 with ESC, DEL, C1 with CSI
    "\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"  # bidi, zero width, line separators
    "\ud800-\udfff"  # lone surrogates, which no encoder accepts
    "\U000e0000-\U000e007f"  # invisible tag characters
    "]"
)
_SHORT_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def escape(text: str, *, keep: str = "") -> str:
    """Return `text` with every unsafe character, except those to keep, written as an escape."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escaped(found[0]), text)


def escape_json(text: str) -> str:
    """Return a JSON text of the same value in which unsafe characters are JSON escapes."""
    # Line breaks in a JSON text are between values, never inside one.
    return _UNSAFE.sub(
        lambda found: found[0] if found[0] == "\n" else json.dumps(found[0])[1:-1], text
    )


def _escaped(character: str) -> str:
    if (short := _SHORT_ESCAPES.get(character)) is not None:
        return short
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
