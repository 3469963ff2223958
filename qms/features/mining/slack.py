"""Reads Slack exports: a folder per channel, with one array of messages per day."""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import msgspec

from qms.disk.archives import Member
from qms.disk.export_files import Export
from qms.disk.json_frames import Lost, frame
from qms.features.mining.conversation import Conversation, Found, Message, Problem
from qms.features.mining.read import decode

FILES = re.compile(r"(?:.*/)?[^/]+/\d{4}-\d\d-\d\d\.json")

SLICE_MESSAGES = 1000
"""A day is yielded in parts of at most this many messages."""

MAX_USERS = 100_000
"""At most this many users are shown by name, the others by id."""

_MESSAGES = frozenset({None, "thread_broadcast", "me_message", "file_share", "bot_message"})
_REFERENCE = re.compile(r"<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>")


class _Profile(msgspec.Struct, gc=False):
    display_name: str | None = None
    real_name: str | None = None


class _User(msgspec.Struct, gc=False):
    id: str
    name: str = ""
    profile: _Profile | None = None


class _Post(msgspec.Struct, gc=False):
    type: str = "message"
    subtype: str | None = None
    user: str | None = None
    bot_id: str | None = None
    text: str | None = None
    ts: str = ""


_POST = msgspec.json.Decoder(_Post)
_USER = msgspec.json.Decoder(_User)


def read(export: Export) -> Iterator[Found]:
    """Yield the days of each channel, and the problems found in the export."""
    names: dict[str, str] = {}
    if (users := export.find("users.json")) is not None:
        yield from _read_users(export, users, names)
    for member in export.members:
        yield from _read_day(export, member, names)


def _read_users(export: Export, member: Member, names: dict[str, str]) -> Iterator[Problem]:
    for framed in frame(export.chunks(member)):
        try:
            if isinstance(framed, Lost):
                raise ValueError(framed.reason)
            user = decode(framed.data, _USER)
        except ValueError as error:
            yield Problem(member.name, framed.offset, str(error))
            continue
        profile = user.profile or _Profile()
        if len(names) >= MAX_USERS:
            return
        names[user.id] = profile.display_name or profile.real_name or user.name or user.id


def _read_day(export: Export, member: Member, names: Mapping[str, str]) -> Iterator[Found]:
    channel = PurePosixPath(member.name).parent.name
    messages: list[Message] = []
    for framed in frame(export.chunks(member)):
        try:
            if isinstance(framed, Lost):
                raise ValueError(framed.reason)
            post = decode(framed.data, _POST)
        except ValueError as error:
            yield Problem(member.name, framed.offset, str(error))
            continue
        if post.type == "message" and post.subtype in _MESSAGES and post.text:
            messages.append(_message(post, names))
        if len(messages) >= SLICE_MESSAGES:
            yield _conversation(channel, member, messages)
            messages = []
    if messages:
        yield _conversation(channel, member, messages)


def _conversation(channel: str, member: Member, messages: list[Message]) -> Conversation:
    return Conversation(id=channel, title=f"#{channel}", path=member.name, messages=messages)


def _message(post: _Post, names: Mapping[str, str]) -> Message:
    return Message(
        id=post.ts,
        text=plain_text(post.text or "", names),
        is_person=post.bot_id is None and post.subtype != "bot_message",
        author=names.get(post.user or "", post.user),
        at=post.ts or None,
    )


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """Return a message as people read it: names for references, characters for entities."""

    def shown(found: re.Match[str]) -> str:
        sign, target, label = found.groups()
        if sign == "@":
            return f"@{names.get(target, label or target)}"
        if sign:
            return f"{'#' if sign == '#' else '@'}{label or target}"
        return f"{label} ({target})" if label and label != target else target

    return html.unescape(_REFERENCE.sub(shown, text)) if "<" in text or "&" in text else text
