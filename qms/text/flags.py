"""Flags entries with instruction-like text, hidden characters or secrets; never changes them.

An entry is data. Such text is stored and returned as it is, and the answer carries the flag.
"""

import re
from enum import StrEnum

import msgspec

from qms.memory.texts import texts_of
from qms.text.secrets import has_leak, may_leak


class Flag(StrEnum):
    """What was found in the text of an entry."""

    INSTRUCTIONS = "instructionLike"
    HIDDEN = "hiddenUnicode"
    SECRET = "secret"  # noqa: S105 - the name of a flag


_HIDDEN = re.compile(
    "[\u180e\u200b\u2060-\u2064\u206a-\u206f]"  # zero width, invisible signs
    "|(?<=.)\ufeff"  # a byte order mark, except at the beginning
    "|[\u202a-\u202e\u2066-\u2069]"  # bidirectional overrides
    "|[\U000e0000-\U000e007f]"  # tag characters: ASCII that is not shown
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"  # variation selectors without effect
    # Joiners are used in several scripts and in emoji; next to a Latin letter they hide text.
    "|(?<=[0-9A-Za-z])[\u200c\u200d]|[\u200c\u200d](?=[0-9A-Za-z])",
    re.DOTALL,
)
_REGIONAL_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f")
"""The flag emoji of England, Scotland and Wales consist of tag characters."""

_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|your|system)"
_INSTRUCTIONS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\W++(?:\w++\W++){0,3}?"
    rf"(?:{_BEFORE}\W++(?:\w++\W++){{0,3}}?(?:instructions?|prompts?|rules|guidelines|directives|context)"
    r"|(?:all|any|every|these|those|the)\W++(?:\w++\W++){0,2}?(?:instructions|prompts?)\b)"
    r"|\byou are now (?:an?|the|in)\b"
    r"|\bfrom now on,? you (?:are|must|will|shall|should)\b"
    r"|\bnew (?:system )?(?:instructions?|prompt) ?:"
    r"|\b(?:reveal|print|show|repeat|output|leak|exfiltrate|send)\W++(?:\w++\W++){0,4}?"
    r"(?:system prompt|hidden instructions|api keys?|credentials)\b"
    r"|\bdo(?: not|n't) (?:tell|inform|mention|reveal|show|let)\W++(?:\w++\W++){0,4}?user\b"
    r"|<\|(?:im_start|im_end|system|assistant|user)\|>|\[/?inst\]|<</?sys>>"
    r"|</?(?:system|tool_calls?|function_calls?|instructions?)>"
    r"|^#{2,} ?(?:system|instructions?) ?:",
    re.IGNORECASE | re.MULTILINE,
)
_MARKS = (
    *(b"ignore", b"disregard", b"forget", b"overrid", b"bypass", b"you are now", b"from now on"),
    *(b"prompt", b"instruction", b"api key", b"credential", b"do not ", b"don't ", b"<|", b"inst]"),
    *(b"sys>>", b"<system", b"</system", b"tool_call", b"function_call", b"system:", b"system :"),
)
"""Every instruction-like text contains one of these, in lower case."""


_MAX_CACHED = 65_536

_plain: set[int] = set()
_flagged: dict[int, tuple[Flag, ...]] = {}
"""Lines by their hashes, so that the cache does not keep texts alive."""


def flags_of(line: bytes) -> tuple[Flag, ...]:
    """Return the flags of an entry by its line; the result is cached."""
    key = hash(line)
    if key in _plain:
        return ()
    found = _flagged.get(key)
    if found is None:
        found = _judged(line)
        _remember(key, found)
    return found


def _remember(key: int, found: tuple[Flag, ...]) -> None:
    if len(_plain) + len(_flagged) >= _MAX_CACHED:
        _plain.clear()
        _flagged.clear()
    if found:
        _flagged[key] = found
    else:
        _plain.add(key)


def _judged(line: bytes) -> tuple[Flag, ...]:
    small = line.lower()
    is_plain = line.isascii() and b"\\u" not in small
    if is_plain and not any(mark in small for mark in _MARKS) and not may_leak(line):
        return ()
    document = msgspec.json.decode(line)
    texts = [_REGIONAL_FLAG.sub("", text) for _, text in texts_of(document)]
    found: list[Flag] = []
    if any(map(gives_orders, texts)):
        found.append(Flag.INSTRUCTIONS)
    if not is_plain and any(map(_HIDDEN.search, texts)):
        found.append(Flag.HIDDEN)
    if has_leak(document):
        found.append(Flag.SECRET)
    return tuple(found)


def gives_orders(text: str) -> bool:
    """Say whether a text reads like an instruction to an agent; hidden characters are ignored."""
    return _INSTRUCTIONS.search(text if text.isascii() else _HIDDEN.sub("", text)) is not None
