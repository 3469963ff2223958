"""Project slugs: names that are valid on every file system."""

import re

SLUG = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")

_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul"}
    | {f"com{number}" for number in range(10)}
    | {f"lpt{number}" for number in range(10)}
)


def is_slug(text: str) -> bool:
    """Say whether `text` may name a project: one portable path component, no device name."""
    return SLUG.fullmatch(text) is not None and text.lower() not in _DEVICE_NAMES
