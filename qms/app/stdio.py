"""Runs `qms bridge` and `qms mcp` on standard input and output until the client closes them."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from qms.app.stdio_server import Home, Wanted
from qms.bridge.bridge import Bridge
from qms.bridge.link import Target
from qms.bridge.pipes import standard_pipes
from qms.config.api_keys import PLAIN_KEY
from qms.memory.errors import NotAuthenticatedError, UnavailableError, invalid
from qms.memory.struct_types import prepare_types
from qms.telemetry import logs

log = logging.getLogger(__name__)


class _StoppedError(BaseException):
    """A signal arrived; raised in the thread that reads standard input."""


def bridge(url: str, wanted: Wanted) -> None:
    """Forward MCP between standard input and output and a server, until the client ends.

    Raises:
        InvalidInputError: the address is not valid.
        NotAuthenticatedError: there is no key.
    """
    target = Target(
        url=_checked_url(url),
        key=_checked_key(wanted.key),
        project=wanted.project,
        toolsets=wanted.toolsets,
        agent_id=wanted.agent_id,
    )
    prepare_types()
    logs.configure(logs.LogOptions())
    _run(lambda: target)


def serve_root(root: Path, wanted: Wanted) -> None:
    """Serve one project of a root on standard input and output, until the client ends.

    Raises:
        InvalidInputError: the root's configuration is not valid.
        NotAuthenticatedError: another process owns the root, and there is no key for it.
    """
    prepare_types()
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
    """Raise `_StoppedError` at the first signal and ignore further ones."""

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
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not is_complete or parts.query or parts.fragment or "@" in parts.netloc:
        raise invalid("url", "must look like http://127.0.0.1:5080, without key, query or fragment")
    return url


def _checked_key(key: str | None) -> str:
    if key and PLAIN_KEY.fullmatch(key):
        return key
    error = NotAuthenticatedError(
        "QMS_KEY is not set" if not key else "QMS_KEY is not a key: it has invalid characters"
    )
    error.add_note("set the environment variable QMS_KEY to the key of a user")
    error.add_note("a lost key: `memoryctl keys create USER` on the server's own machine")
    raise error
