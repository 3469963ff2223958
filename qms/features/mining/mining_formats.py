"""The formats that can be mined, and the reading of an export in one of them."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from qms.disk.export_files import Export, open_export
from qms.features.mining import chatgpt, claude, claude_code, slack
from qms.features.mining.conversation import Conversation, Found, Problem

DEFAULT_MIN_MESSAGES = 3


class Format(msgspec.Struct, frozen=True):
    """The files of one program's export, and their reader."""

    files: re.Pattern[str]
    read: Callable[[Export], Iterator[Found]]


FORMATS = {
    "claude": Format(claude.FILES, claude.read),
    "chatgpt": Format(chatgpt.FILES, chatgpt.read),
    "slack": Format(slack.FILES, slack.read),
    "claude-code": Format(claude_code.FILES, claude_code.read),
}


@contextmanager
def read_export(
    path: Path, name: str, *, min_messages: int = DEFAULT_MIN_MESSAGES
) -> Iterator[tuple[Export, Iterator[Found]]]:
    """Yield an export, which counts the bytes read, and its conversations.

    Raises:
        QmsError: there is none at this path, or it cannot be trusted.
    """
    wanted = FORMATS[name]
    with open_export(path, wanted.files) as export:
        yield export, at_least(wanted.read(export), min_messages)


def at_least(found: Iterator[Found], minimum: int) -> Iterator[Found]:
    """Yield only conversations with at least `minimum` messages, counted over all of their parts.

    The first parts are held back until there are enough.
    """
    owner, counted = "", 0
    held: list[Conversation] = []
    for one in found:
        if isinstance(one, Problem):
            yield one
            continue
        if one.id != owner:
            owner, counted, held = one.id, 0, []
        counted += len(one.messages)
        held.append(one)
        if counted >= minimum:
            yield from held
            held = []
