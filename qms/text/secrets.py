"""Finds secrets in texts, such as API keys and passwords, and redacts them.

A key with the prefix of its vendor always counts. A value that is assigned to a name such as
`password` counts only when it looks random, because many texts are about passwords.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from qms.memory.entry import Document
from qms.memory.texts import texts_of, with_texts

REDACTED = "[redacted]"
"""Shorter than every secret, so that redaction never makes a text exceed its limit."""

_LEAST_BITS = 3.0
"""Random letters and digits have about 4 to 6 bits a character, plain words have fewer."""

_LEAST_CHANGES = 3
"""Random values change between letters and digits at least this often; `user_id_1234` once."""

_MOST_SECRETS = 64
"""A text with more secrets is redacted as a whole: each one is searched in all of it."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"example|your|change.?me|placeholder|redacted|dummy|x{4}|\*{3}|0{6}", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"(?:passw(?:or)?d|pwd|secret|token|(?:api|access|auth|private)[_-]?key|credential)s?"
    r"[\"'`]?\s{0,4}(?::=|=>|[:=])\s{0,4}[\"'`]?"
    r"([A-Za-z0-9+/_=.~!@#$%^&*-]{12,})",
    re.IGNORECASE,
)


class _Pattern(msgspec.Struct, frozen=True):
    what: str
    """The kind of secret, as messages name it."""
    marks: tuple[str, ...]
    """Every text that the pattern matches contains one of these, in lower case."""
    found_by: re.Pattern[str]
    """Its group is the secret, if it has a group; a match without the group is ignored."""


def _pattern(what: str, marks: str, pattern: str) -> _Pattern:
    return _Pattern(what, tuple(marks.split()), re.compile(rf"(?<![A-Za-z0-9_])(?:{pattern})"))


_PATTERNS = (
    _pattern("an AWS access key", "akia asia", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _pattern(
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}",
    ),
    _pattern("a GitLab token", "glpat-", r"glpat-[A-Za-z0-9_.-]{20,255}"),
    _pattern("a Slack token", "xox xapp-", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[\w-]{20,255}"),
    _pattern("a Google API key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    _pattern(
        "a Stripe key",
        "_live_ _test_ whsec_",
        r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9]{24,255}",
    ),
    _pattern("a key for a language model", "sk-", r"sk-[A-Za-z0-9_-]{20,255}"),
    _pattern("a key of this server", "qms_", r"qms_[A-Za-z0-9_-]{40,}"),
    _pattern(
        "a JSON Web Token",
        "eyj",
        # An incomplete one is matched as a whole; otherwise every `eyJ` in it would be tried.
        r"(eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{16,}+)"
        r"|eyJ[A-Za-z0-9_-]{8,}+",
    ),
)
_PRIVATE_KEY = _Pattern(
    "a private key",
    ("private key",),
    re.compile(
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?!-----)[\s\S])*(?:-----END [A-Z0-9 ]{0,60}-----)?"
    ),
)
_ASSIGNMENT = _Pattern(
    "a password or token",
    ("passw", "pwd", "secret", "token", "key", "credential"),
    _ASSIGNED,
)
_ALL = (*_PATTERNS, _PRIVATE_KEY, _ASSIGNMENT)
_MARKS = frozenset(mark for pattern in _ALL for mark in pattern.marks)
_UNDERSCORED = tuple(mark for mark in _MARKS if "_" in mark)
_OTHERS = tuple(mark for mark in _MARKS if "_" not in mark)


class Leak(msgspec.Struct, frozen=True):
    """The field and the kind of a suspected secret; never the secret itself."""

    field: str
    what: str


def may_leak(line: bytes) -> bool:
    """Say quickly whether a line may contain a secret; never false for a line that does."""
    small = line.decode("latin-1").lower()  # str is searched twice as fast as bytes
    if any(map(small.__contains__, _OTHERS)) or "\\u" in small:
        return True
    return "_" in small and any(map(small.__contains__, _UNDERSCORED))


def find_leaks(document: Document) -> list[Leak]:
    """Return the suspected secrets in the texts of a document."""
    leaks = {
        Leak(without_secrets(path), what): None
        for path, text in texts_of(document)
        for what, _ in _found(text)
    }
    return list(leaks)


def has_leak(document: Document) -> bool:
    """Say whether anything in a document looks like a secret."""
    return any(next(_found(text), None) for _, text in texts_of(document))


def redacted(document: Document) -> Document:
    """Return the document with every secret replaced."""
    return with_texts(document, without_secrets)


def without_secrets(text: str) -> str:
    """Return a text with every occurrence of every secret replaced."""
    secrets = {found for _, found in _found(text)}
    if len(secrets) > _MOST_SECRETS:
        return REDACTED
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def _found(text: str) -> Iterator[tuple[str, str]]:
    small = text.lower()
    for pattern in _ALL:
        if any(mark in small for mark in pattern.marks):
            for match in pattern.found_by.finditer(text):
                secret = match[pattern.found_by.groups]
                if secret and (pattern is not _ASSIGNMENT or _looks_random(secret)):
                    yield pattern.what, secret


def _looks_random(value: str) -> bool:
    if _UUID.fullmatch(value) or _PLACEHOLDER.search(value):
        return False
    is_digit = [character.isdigit() for character in value if character.isalnum()]
    changes = sum(before != after for before, after in pairwise(is_digit))
    return changes >= _LEAST_CHANGES and _bits(value) >= _LEAST_BITS


def _bits(text: str) -> float:
    """Return the Shannon entropy of a text in bits per character."""
    shares = [count / len(text) for count in Counter(text).values()]
    return -sum(share * math.log2(share) for share in shares)
