"""Small pieces of content that the conformance suite asks for by name."""

import base64
import struct
import zlib

from mcp_types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
"""One red pixel."""

WAV = (
    b"RIFF"
    + struct.pack("<I", 38)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16)
    + b"data"
    + struct.pack("<I", 2)
    + b"\x00\x00"
)
"""One silent sample."""


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def image() -> ImageContent:
    data = base64.b64encode(PNG).decode()
    return ImageContent(type="image", data=data, mime_type="image/png")


def audio() -> AudioContent:
    data = base64.b64encode(WAV).decode()
    return AudioContent(type="audio", data=data, mime_type="audio/wav")


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return EmbeddedResource(type="resource", resource=resource)


def shown(*blocks: ContentBlock) -> CallToolResult:
    return CallToolResult(content=list(blocks))


def told(words: str) -> CallToolResult:
    return shown(text(words))
