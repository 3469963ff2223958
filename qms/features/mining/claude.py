"""Reads Claude exports: `conversations.json` with an array of chats, or one chat per line."""

import re
from collections.abc import Iterator

import msgspec

from qms.disk.export_files import Export
from qms.disk.json_frames import Frame
from qms.features.mining.conversation import Conversation, Found, Message, Problem
from qms.features.mining.read import decode, read_values

FILES = re.compile(r"(?:.*/)?conversations[^/]*\.jsonl?")


class _Block(msgspec.Struct, gc=False):
    type: str = ""
    text: str | None = None


class _Turn(msgspec.Struct, gc=False):
    uuid: str = ""
    sender: str = ""
    text: str | None = None
    content: list[_Block] | None = None
    created_at: str | None = None


class _Chat(msgspec.Struct, gc=False):
    chat_messages: list[_Turn]
    uuid: str = ""
    name: str | None = None


class _LooseChat(msgspec.Struct, gc=False):
    chat_messages: list[msgspec.Raw]
    uuid: str = ""
    name: str | None = None


_ID = re.compile(rb'"uuid"\s*:\s*"([^"]+)"')
_CHAT = msgspec.json.Decoder(_Chat)
_LOOSE = msgspec.json.Decoder(_LooseChat)
_TURN = msgspec.json.Decoder(_Turn)


def read(export: Export) -> Iterator[Found]:
    """Return the conversations of an export, and the problems found in it."""
    return read_values(export, whole=_read_chat, part=_read_part)


def _read_chat(framed: Frame, path: str) -> Iterator[Found]:
    try:
        chat = decode(framed.data, _CHAT)
    except ValueError:
        yield from _read_loosely(framed, path)
        return
    yield Conversation(
        id=chat.uuid or f"byte-{framed.offset}",
        title=chat.name or "",
        path=path,
        messages=[_message(turn) for turn in chat.chat_messages],
    )


def _read_loosely(framed: Frame, path: str) -> Iterator[Found]:
    """Yield the readable messages of a damaged conversation, and its problems."""
    try:
        chat = decode(framed.data, _LOOSE)
    except ValueError as error:
        yield Problem(path, framed.offset, str(error))
        return
    messages = []
    for raw in chat.chat_messages:
        try:
            messages.append(_message(decode(bytes(raw), _TURN)))
        except ValueError as error:
            yield Problem(path, framed.offset, f"message not readable: {error}")
    yield Conversation(
        id=chat.uuid or f"byte-{framed.offset}", title=chat.name or "", path=path, messages=messages
    )


def _read_part(framed: Frame, path: str) -> Iterator[Found]:
    """Yield one message of a conversation that is too large to decode at once."""
    try:
        turn = decode(framed.data, _TURN)
    except ValueError as error:
        yield Problem(path, framed.offset, str(error))
        return
    if turn.sender:
        name = _ID.search(framed.part_of or b"")
        chat_id = name[1].decode("utf-8", "replace") if name else f"byte-{framed.offset}"
        yield Conversation(id=chat_id, title="", path=path, messages=[_message(turn)])


def _message(turn: _Turn) -> Message:
    blocks = [block.text for block in turn.content or () if block.type == "text" and block.text]
    return Message(
        id=turn.uuid,
        text="\n\n".join(blocks) or turn.text or "",
        is_person=turn.sender == "human",
        at=turn.created_at,
    )
