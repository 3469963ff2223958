"""Masks the key hashes in the text of the configuration."""

import hashlib
import re

from qms.config.settings import Settings

_PLAIN_KEY = re.compile(r"""^([ \t]*apiKey[ \t]*=[ \t]*)("[^"\n]+"|'[^'\n]+')""", re.MULTILINE)
"""A plain key in the file, which could not be replaced by its hash yet."""


def masks_of(settings: Settings) -> dict[str, str]:
    """Return the mask of every hash; it is made of the key's id and reveals nothing of the key."""
    return {
        record.sha256: f"masked:{hashlib.sha256(f'{name}/{record.id}'.encode()).hexdigest()[:16]}"
        for name, user in settings.users.items()
        for record in user.keys
    }


def masked(text: str, masks: dict[str, str]) -> str:
    """Return the text with every hash replaced by its mask, and plain keys removed."""
    for secret, mask in masks.items():
        text = re.sub(secret, mask, text, flags=re.IGNORECASE)
    return _PLAIN_KEY.sub(r'\1""', text)
