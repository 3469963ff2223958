"""Rules that find facts, decisions and preferences in a person's sentences.

The whole text is searched for a cue first, and only then for the cue's sentence: most texts hold
no cue.
"""

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

Rule = Literal["fact", "decision", "preference"]

MAX_CHARACTERS = 20_000
"""The rest of a longer message was probably pasted, not typed."""
MAX_STATEMENTS = 10
"""At most this many sentences of one message are kept."""
SHORTEST, LONGEST = 12, 500

_WORDS = r"(?:\w{1,30} ){0,3}"
_DECISIONS = (
    r"(?:we|i)(?:'ve| have)? (?:decided|agreed|settled on|opted for|chose) ",
    r"(?:we|i)(?:'re| are|'m| am) going (?:with|to use) ",
    r"(?:we|i)(?:'ll| will) (?:go with|stick with|switch to|move to|use|keep) ",
    r"let's (?:go with|stick with|switch to|use|keep) ",
    r"decision: ",
    r"the decision is ",
)
_PREFERENCES = (
    r"i (?:really |strongly |usually |generally |would |much )?prefer ",
    r"i (?:really )?(?:like|love|hate|dislike) (?!this|that|it\b|how|the way|your)",
    r"i (?:don't|do not) (?:really )?(?:like|want) ",
    r"i (?:always|never|usually) (?:use|write|want|run|work|keep|avoid) ",
    r"my (?:favou?rite|preferred) ",
    r"from now on,? ",
    r"please (?:always|never) ",
    r"(?:always|never) \w",
    r"call me ",
)
_FACTS = (
    r"(?:please )?remember(?: that|:) ",
    r"note(?: that|:) ",
    r"for the record,? ",
    r"fyi[,:]? ",
    r"my (?!question|problem|issue|point|guess|goal|plan|understanding|concern|idea|error|bad)"
    + _WORDS
    + r"(?:is|are|lives|works) (?!not working|broken|failing)",
    r"i(?:'m| am) (?:a|an|the|based|from|responsible) ",
    r"i (?:live|work|moved|studied|grew up) ",
    r"we (?:use|run|host|deploy|store|are using|call) ",
    r"our " + _WORDS + r"(?:is|are|runs?|uses?|lives?) ",
    r"the " + _WORDS + r"(?:runs on|lives (?:at|in|on)|is (?:hosted|stored|located|called)) ",
)
# Without a leading word boundary, so that the engine stops only at letters that begin a cue.
_CUE = re.compile(
    "|".join(
        f"(?P<{name}>{'|'.join(cues)})"
        for name, cues in (
            ("decision", _DECISIONS),
            ("preference", _PREFERENCES),
            ("fact", _FACTS),
        )
    )
)
_BEGIN = re.compile(r"[.!?:;]\s+|\n\s*")
_END = re.compile(r"[.!?](?=\s|$)|\n")
_MARK = re.compile(r"^(?:[-*+•>#]+|\d{1,2}[.)])\s+")
_ASKING = re.compile(
    r"(?:if|when|should|could|can|would|do|does|did|what|why|how|who|which|where|is|are|maybe|"
    r"suppose|imagine|unless)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:always|never) ")
_EXPLICIT = ("remember", "please remember", "note", "for the record", "decision:", "from now on")


class Statement(msgspec.Struct, frozen=True, gc=False):
    """A sentence worth keeping, the rule that found it, and its confidence."""

    rule: Rule
    text: str
    confidence: float


def find_statements(text: str) -> Iterator[Statement]:
    """Yield the sentences of a person's message that are worth keeping."""
    text = text[:MAX_CHARACTERS].replace("’", "'")
    lowered = text.lower()
    if len(lowered) != len(text):
        text = lowered  # a few letters have a longer lower case: positions would differ
    found, place = 0, 0
    while found < MAX_STATEMENTS and (cue := _CUE.search(lowered, place)) is not None:
        start, end = _sentence(lowered, cue.start(), place)
        statement = _statement(text[start:end], cue, lowered)
        place = end if statement else cue.end()
        if statement is not None:
            found += 1
            yield statement


def _sentence(text: str, cue: int, earliest: int) -> tuple[int, int]:
    """Return the start and the end of the sentence around a cue."""
    start = max(earliest, cue - LONGEST)
    for begin in _BEGIN.finditer(text, start, cue):
        start = begin.end()
    end = _END.search(text, cue, cue + LONGEST + 1)
    return start, end.end() if end else min(len(text), cue + LONGEST)


def _statement(sentence: str, cue: re.Match[str], lowered: str) -> Statement | None:
    """Return the sentence as a statement, unless it is a question, a doubt or too short."""
    before = lowered[cue.start() - 1 : cue.start()] if cue.start() else " "
    text = " ".join(_MARK.sub("", sentence.strip()).split())
    if before.isalnum() or before in ("'", "-", "_") or not SHORTEST <= len(text) < LONGEST:
        return None
    if text.endswith("?") or _ASKING.match(text) or text.count(" ") < 2:
        return None
    rule: Rule = "fact" if cue["fact"] else "decision" if cue["decision"] else "preference"
    head = text.lower()
    if rule == "preference" and _OPENING.match(cue[0]) and not head.startswith(cue[0]):
        return None  # "it never works" is no preference
    confidence = 0.9 if head.startswith(_EXPLICIT) else 0.7 if rule == "fact" else 0.8
    return Statement(rule, text, confidence)
