"""Waits until the server of a root reports that it is healthy."""

import contextlib
import http.client
import json
import ssl
import urllib.request
from collections.abc import Callable
from pathlib import Path

from qms.config.root import LOCK_PLACE
from qms.disk.root_lock import read_owner
from qms.features.health.health import Status
from qms.platforms.wait import Patience

LIMIT_S = 120.0
_POLL_S = 0.5
_ANSWER_WITHIN_S = 10.0
_HEALTHY = frozenset({Status.HEALTHY, Status.DEGRADED})
"""A store with a bad line is degraded, and was so before the upgrade."""


def becomes_healthy(
    root: Path,
    *,
    ask: Callable[[str], str] | None = None,
    patience: Patience | None = None,
) -> bool:
    """Wait until the server of a root is healthy; return False after `LIMIT_S`."""
    looks = (patience or Patience()).looks(every_s=_POLL_S, limit_s=LIMIT_S)
    return any(status_of(root, ask or _asked) in _HEALTHY for _ in looks)


def status_of(root: Path, ask: Callable[[str], str]) -> str:
    """Return the health status of the server of a root; empty if none answers."""
    owner = read_owner(root / LOCK_PLACE)
    if owner is None or not owner.url:
        return ""
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        return str(json.loads(ask(f"{owner.url}/health"))["status"])
    return ""


def _asked(url: str) -> str:
    # The lock proves that the server is ours, whatever name its certificate has.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opened = urllib.request.urlopen(url, timeout=_ANSWER_WITHIN_S, context=context)  # noqa: S310 - http(s), by the lock
    with opened as answer:
        text: str = answer.read().decode()
    return text
