"""The configuration without its secrets."""

import hashlib
import re

from qms.config.settings import Settings

_PLAIN_KEY = re.compile(r"""^(\s*apiKey\s*=\s*)("[^"\n]+"|'[^'\n]+')""", re.MULTILINE)
"""A key that stands in the file as text, as long as it could not be replaced by its hash."""


def masks_of(settings: Settings) -> dict[str, str]:
    """Return the mask of every hash: made of the key's id, it tells nothing of the key."""
    return {
        record.sha256: f"masked:{hashlib.sha256(f'{name}/{record.id}'.encode()).hexdigest()[:16]}"
        for name, user in settings.users.items()
        for record in user.keys
    }


def masked(text: str, masks: dict[str, str]) -> str:
    """Return the text with every secret behind its mask."""
    for secret, mask in masks.items():
        text = re.sub(secret, mask, text, flags=re.IGNORECASE)
    return _PLAIN_KEY.sub(r'\1""', text)
