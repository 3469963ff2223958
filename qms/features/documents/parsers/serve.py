"""The frame of a reader inside a worker: one file in, its pieces or a reason out."""

import codecs
from collections.abc import Callable

import msgspec

from qms.features.documents.pieces import Extracted, ReadLimits, UnreadableError
from qms.sandbox.child import Channel

for _name in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp437"):
    codecs.lookup(_name)  # no codec can be loaded behind the walls


class Answer(msgspec.Struct, frozen=True):
    """What a worker answers: the pieces of a file, or why it cannot be read."""

    extracted: Extracted | None = None
    refusal: str = ""


def serve(channel: Channel, read: Callable[[bytes, ReadLimits], Extracted]) -> None:
    """Read the limits and a file from the channel, and answer."""
    limits = msgspec.msgpack.decode(channel.receive(), type=ReadLimits)
    try:
        answer = Answer(read(channel.receive(), limits))
    except UnreadableError as error:
        answer = Answer(refusal=str(error))
    channel.send(msgspec.msgpack.encode(answer))
