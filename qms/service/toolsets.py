"""Toolsets: what an endpoint allows, what it offers by default, and what a client asked for."""

from collections.abc import Sequence
from functools import lru_cache

from qms.config.settings import Endpoint, Toolset
from qms.domain.errors import invalid

MAX_NAME_CHARACTERS = 64


def choose_toolsets(endpoint: Endpoint, asked: Sequence[str] | None) -> frozenset[str]:
    """Return the toolsets that a client gets: those it asked for, or the endpoint's default.

    Raises:
        InvalidInputError: the endpoint does not allow one of them.
    """
    if asked is None:
        return _default(endpoint.toolsets, endpoint.default_toolsets)
    allowed = {toolset.value for toolset in endpoint.toolsets}
    names = sorted(allowed)
    for name in asked:
        if name not in allowed:
            shown = name[:MAX_NAME_CHARACTERS]
            reason = f"{shown!r} is not allowed here, only {', '.join(names)}"
            raise invalid("toolsets", reason, allowed=names)
    return frozenset(asked)


@lru_cache(maxsize=256)
def _default(allowed: tuple[Toolset, ...], wanted: tuple[Toolset, ...]) -> frozenset[str]:
    return frozenset(toolset.value for toolset in wanted if toolset in allowed)
