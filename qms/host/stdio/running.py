"""`qms bridge` and `qms mcp`: standard input and output until the client closes its end."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from qms.config.keys import PLAIN_KEY
from qms.domain.errors import NotAuthenticatedError, UnavailableError, invalid
from qms.host.stdio.bridge import Bridge
from qms.host.stdio.home import Home, Wanted
from qms.host.stdio.link import Target
from qms.host.stdio.pipes import standard_pipes
from qms.telemetry import logs

log = logging.getLogger(__name__)


class _StoppedError(BaseException):
    """A signal came; only what runs on standard input meets it."""


def bridge(url: str, wanted: Wanted) -> None:
    """Carry MCP between standard input and output and a server, until the client ends.

    Raises:
        InvalidInputError: the address is none.
        NotAuthenticatedError: there is no key.
    """
    target = Target(
        url=_checked_url(url),
        key=_checked_key(wanted.key),
        project=wanted.project,
        toolsets=wanted.toolsets,
        agent_id=wanted.agent_id,
    )
    logs.configure(logs.LogOptions())
    _run(lambda: target)


def serve_root(root: Path, wanted: Wanted) -> None:
    """Serve one project of a root on standard input and output, until the client ends.

    Raises:
        InvalidInputError: the root's configuration is not valid.
        NotAuthenticatedError: another process owns the root, and there is no key for it.
    """
    logs.configure(logs.LogOptions())
    home = Home(root, wanted)
    try:
        try:
            target = home.find()
            log.info("serving", extra={"url": target.url, "project": target.project})
        except UnavailableError as error:
            log.warning("waiting for the root", extra={"reason": error.message})
        _run(home.find)
    finally:
        home.close()


def _run(find: Callable[[], Target]) -> None:
    try:
        with _stopped_by_signals():
            Bridge(standard_pipes(), find).run()
    except _StoppedError:
        log.info("stopped by a signal")


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a signal end what waits for standard input, once."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise _StoppedError

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, stop) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or parts.query or parts.fragment or "@" in parts.netloc:
        raise invalid("url", "must look like http://127.0.0.1:5080, without key, query or fragment")
    return url


def _checked_key(key: str | None) -> str:
    if key and PLAIN_KEY.fullmatch(key):
        return key
    error = NotAuthenticatedError(
        "QMS_KEY holds no key" if not key else "QMS_KEY has characters that no key has"
    )
    error.add_note("put the key of a user into the environment variable QMS_KEY")
    error.add_note("a lost key: `memoryctl keys create USER` on the server's own machine")
    raise error
