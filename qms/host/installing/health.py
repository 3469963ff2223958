"""Whether the server of a root is well, asked as any client would ask."""

import contextlib
import http.client
import json
import ssl
import urllib.request
from collections.abc import Callable
from pathlib import Path

from qms.fsio.lock import read_owner
from qms.host.patience import Patience
from qms.runtime.root import LOCK_PLACE
from qms.service.health import Status

LIMIT_S = 120.0
_LOOK_AGAIN_S = 0.5
_ANSWER_WITHIN_S = 10.0
_WELL = frozenset({Status.HEALTHY, Status.DEGRADED})
"""A store with a bad line is degraded, and was so before an upgrade, too."""


def becomes_healthy(
    root: Path,
    *,
    ask: Callable[[str], str] | None = None,
    patience: Patience | None = None,
) -> bool:
    """Wait until the server of a root is well; False when it is not by then."""
    looks = (patience or Patience()).looks(every_s=_LOOK_AGAIN_S, limit_s=LIMIT_S)
    return any(status_of(root, ask or _asked) in _WELL for _ in looks)


def status_of(root: Path, ask: Callable[[str], str]) -> str:
    """Return what the server of a root says of itself; nothing when there is none."""
    owner = read_owner(root / LOCK_PLACE)
    if owner is None or not owner.url:
        return ""
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        return str(json.loads(ask(f"{owner.url}/health"))["status"])
    return ""


def _asked(url: str) -> str:
    # The owner of the lock is known to be ours, whichever name its certificate was made for.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    opened = urllib.request.urlopen(url, timeout=_ANSWER_WITHIN_S, context=context)  # noqa: S310 - http(s), by the lock
    with opened as answer:
        text: str = answer.read().decode()
    return text
