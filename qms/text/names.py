"""Identifiers in text: finds paths, symbols and ids, and splits them at capital letters.

`getUserName`, `user_name`, `http.server`, `docs/spec.md` and `build-42` are names. A plain word is
not a name: it is indexed as a word, and so are parts that punctuation separates.
"""

import re
from functools import lru_cache

_NAME = re.compile(r"\w+(?:[./\\:#@$+~-]+\w+)*")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_COMPOUND = re.compile(r"[^\W_][_./\\:#@$+~-]+[^\W_]|" + _HUMP.pattern)
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+")
_COMPONENT = re.compile(r"[/\\:]+")
_EXTENSION = re.compile(r"\.[^\W\d_]\w{0,7}")
_EDGES = "./\\:#@$+~-_"
_MAX_NAME_CHARACTERS = 256
CACHED_TOKENS = 8192


def names_and_humps(text: str) -> tuple[list[str], list[str]]:
    """Return the distinct names in a text, and their parts, split at capital letters.

    Both are in lower case. The compound components of a path are names, too.
    """
    wholes: dict[str, None] = {}
    parts: dict[str, None] = {}
    tokens = dict.fromkeys(text.split())
    # A text with a very long token bypasses the cache.
    is_cached = max(map(len, tokens), default=0) <= _MAX_NAME_CHARACTERS
    find = _cached_names_in if is_cached else _names_in
    for found_wholes, found_parts in filter(None, map(find, tokens)):
        wholes.update(found_wholes)
        parts.update(found_parts)
    return list(wholes), list(parts)


def cached_token_count() -> int:
    """Return how many tokens are in the cache."""
    return _cached_names_in.cache_info().currsize


def whole_name(name: str) -> str:
    """Return the form in which a name is indexed and searched."""
    return name.lower().replace("\\", "/").strip(_EDGES)


def own_name(entry_id: str) -> str:
    """Return the name that only the entry with this id has; a mention of the id does not match."""
    return "=" + entry_id.lower()


def is_path(name: str) -> bool:
    """Say whether a whole name is a path: it has folders or a file extension."""
    return "/" in name or _EXTENSION.search(name, max(0, len(name) - 9)) is not None


_Found = tuple[dict[str, None], dict[str, None]]


def _names_in(token: str) -> _Found | None:
    if _is_plain(token):
        return None
    wholes: list[str] = []
    parts: list[str] = []
    for name in _NAME.findall(token):
        if len(name) > _MAX_NAME_CHARACTERS or not _COMPOUND.search(name):
            continue
        wholes += [whole_name(name), *map(whole_name, _compound_components(name))]
        if _HUMP.search(name):
            parts += [part.lower() for part in _HUMPS.findall(name)]
    return (dict.fromkeys(wholes), dict.fromkeys(parts)) if wholes else None


_cached_names_in = lru_cache(maxsize=CACHED_TOKENS)(_names_in)
"""Most tokens are plain words, and common ones repeat often."""


def _is_plain(token: str) -> bool:
    return token.isalpha() and (token.islower() or token[1:].islower())


def _compound_components(name: str) -> list[str]:
    components = _COMPONENT.split(name)
    return [found for found in components if len(components) > 1 and _COMPOUND.search(found)]
