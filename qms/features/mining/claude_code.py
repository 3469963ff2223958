"""Reads Claude Code logs: a folder per project with `<conversation>.jsonl`, a line per message."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from qms.disk.archives import Member
from qms.disk.export_files import Export
from qms.disk.json_frames import Lost, frame_lines
from qms.features.mining.conversation import Conversation, Found, Message, Problem
from qms.features.mining.read import decode
from qms.memory.texts import without_parts

FILES = re.compile(r".*\.jsonl")

SLICE_MESSAGES = 200
"""A long conversation is yielded in parts of at most this many messages."""

_MESSAGES = frozenset({"user", "assistant"})
_MACHINE_MADE = ("<command-", "<local-command-", "<task-", "<bash-", "Caveat: ", "[Request ")
"""Beginnings of texts with the role `user` that no person typed."""


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


class _Content(msgspec.Struct, gc=False):
    content: str | list[_Block] = ""


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    uuid: str = ""
    session_id: str = ""
    timestamp: str | None = None
    is_sidechain: bool = False
    is_meta: bool = False
    message: _Content | None = None


class _Kind(msgspec.Struct, gc=False):
    type: str = ""
    summary: str | None = None


_LINE = msgspec.json.Decoder(_Line)
_KIND = msgspec.json.Decoder(_Kind)


def read(export: Export) -> Iterator[Found]:
    """Yield the conversations of an export, and the problems found in it."""
    for member in export.members:
        yield from _read_file(export, member)


def _read_file(export: Export, member: Member) -> Iterator[Found]:
    title, owner = "", PurePosixPath(member.name).stem
    messages: list[Message] = []
    for framed in frame_lines(export.chunks(member)):
        if isinstance(framed, Lost):
            yield Problem(member.name, framed.offset, framed.reason)
            continue
        try:
            kind = decode(framed.data, _KIND)
            line = decode(framed.data, _LINE) if kind.type in _MESSAGES else None
        except ValueError as error:
            yield Problem(member.name, framed.offset, str(error))
            continue
        title = title or kind.summary or ""
        if line is None or (message := _message(line)) is None:
            continue
        owner = line.session_id or owner
        messages.append(message)
        if len(messages) >= SLICE_MESSAGES:
            yield Conversation(id=owner, title=title, path=member.name, messages=messages)
            messages = []
    yield Conversation(id=owner, title=title, path=member.name, messages=messages)


def _message(line: _Line) -> Message | None:
    """Return the message, or None for one that programs exchange."""
    if line.message is None or line.is_sidechain or line.is_meta:
        return None
    content = line.message.content
    if isinstance(content, list):
        content = "\n\n".join(one.text for one in content if one.type == "text" and one.text)
    text = content
    if "<system-reminder>" in content:
        text = without_parts(content, "<system-reminder>", "</system-reminder>").strip()
    if not text or text.startswith(_MACHINE_MADE):
        return None
    return Message(id=line.uuid, text=text, is_person=line.type == "user", at=line.timestamp)
