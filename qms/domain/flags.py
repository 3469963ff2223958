"""What a reader should know of a memory before trusting its text: flags, never changes.

A memory is data. Text that gives orders to an agent, or that a person cannot see, is stored and
returned as it is, and its answer says so.
"""

import re
from enum import StrEnum

import msgspec

from qms.domain.leaks import has_leak, may_leak
from qms.domain.texts import texts_of


class Flag(StrEnum):
    """What was noticed."""

    INSTRUCTIONS = "instructionLike"
    HIDDEN = "hiddenUnicode"
    SECRET = "secret"  # noqa: S105 - the name of a flag


_HIDDEN = re.compile(
    "[\u180e\u200b\u2060-\u2064\u206a-\u206f]"  # zero width, invisible signs
    "|(?<=.)\ufeff"  # a byte order mark, save at the beginning
    "|[\u202a-\u202e\u2066-\u2069]"  # text that runs the other way
    "|[\U000e0000-\U000e007f]"  # tag characters: ASCII that is not shown
    "|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}"  # selectors that select nothing
    # Joiners belong to several scripts and to emoji; beside a Latin letter they hide something.
    "|(?<=[0-9A-Za-z])[\u200c\u200d]|[\u200c\u200d](?=[0-9A-Za-z])",
    re.DOTALL,
)
_REGIONAL_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f")
"""The emoji of England, Scotland and Wales are spelt with tag characters."""

_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|your|system)"
_INSTRUCTIONS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\W+(?:\w+\W+){0,3}?"
    rf"(?:{_BEFORE}\W+(?:\w+\W+){{0,3}}?(?:instructions?|prompts?|rules|guidelines|directives|context)"
    r"|(?:all|any|every|these|those|the)\W+(?:\w+\W+){0,2}?(?:instructions|prompts?)\b)"
    r"|\byou are now (?:an?|the|in)\b"
    r"|\bfrom now on,? you (?:are|must|will|shall|should)\b"
    r"|\bnew (?:system )?(?:instructions?|prompt) ?:"
    r"|\b(?:reveal|print|show|repeat|output|leak|exfiltrate|send)\W+(?:\w+\W+){0,4}?"
    r"(?:system prompt|hidden instructions|api keys?|credentials)\b"
    r"|\bdo(?: not|n't) (?:tell|inform|mention|reveal|show|let)\W+(?:\w+\W+){0,4}?user\b"
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
"""One of these stands in every text that gives orders, in small letters."""


_MOST_KNOWN = 65_536

_plain: set[int] = set()
_flagged: dict[int, tuple[Flag, ...]] = {}
"""Lines by their hashes: remembering a judgement must not keep its text alive."""


def flags_of(line: bytes) -> tuple[Flag, ...]:
    """Return what is to be said of an entry, by its line; each line is looked at once."""
    key = hash(line)
    if key in _plain:
        return ()
    found = _flagged.get(key)
    if found is None:
        found = _judged(line)
        _remember(key, found)
    return found


def _remember(key: int, found: tuple[Flag, ...]) -> None:
    if len(_plain) + len(_flagged) >= _MOST_KNOWN:
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
    """Say whether a text speaks to an agent like an instruction, hidden characters taken out."""
    return _INSTRUCTIONS.search(text if text.isascii() else _HIDDEN.sub("", text)) is not None
