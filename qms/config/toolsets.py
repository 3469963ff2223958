"""Toolsets: those that an endpoint allows, its default, and those that a client chooses.

`lite` is a part of `core`: where `core` is allowed, `lite` is too.
"""

from collections.abc import Sequence
from functools import lru_cache

from qms.config.settings import Endpoint, Toolset
from qms.memory.errors import invalid

MAX_NAME_CHARACTERS = 64


def choose_toolsets(endpoint: Endpoint, asked: Sequence[str] | None) -> frozenset[str]:
    """Return the toolsets that a client gets: those it asked for, or the endpoint's default.

    Raises:
        InvalidInputError: the endpoint does not allow one of them.
    """
    if asked is None:
        return _default(endpoint.toolsets, endpoint.default_toolsets)
    allowed = _default(endpoint.toolsets, tuple(Toolset))
    names = sorted(allowed)
    for name in asked:
        if name not in allowed:
            shown = name[:MAX_NAME_CHARACTERS]
            reason = f"{shown!r} is not allowed here, only {', '.join(names)}"
            raise invalid("toolsets", reason, allowed=names)
    return frozenset(asked)


def bounded_toolsets(endpoint: Endpoint, chosen: frozenset[str] | None) -> frozenset[str]:
    """Return the toolsets whose commands a key may call: the chosen ones that are allowed."""
    allowed = _default(endpoint.toolsets, tuple(Toolset))
    return allowed if chosen is None else chosen & allowed


@lru_cache(maxsize=256)
def _default(allowed: tuple[Toolset, ...], wanted: tuple[Toolset, ...]) -> frozenset[str]:
    known = {*allowed, Toolset.LITE} if Toolset.CORE in allowed else {*allowed}
    return frozenset(toolset.value for toolset in wanted if toolset in known)
