"""Reads ChatGPT exports: `conversations.json` with an array of trees; the last branch counts."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from qms.disk.export_files import Export
from qms.disk.json_frames import Frame
from qms.features.mining.conversation import Conversation, Found, Message, Problem
from qms.features.mining.read import decode, read_values

FILES = re.compile(r"(?:.*/)?conversations[^/]*\.json")

_TEXTS = frozenset({"text", "multimodal_text"})
_ROLES = frozenset({"user", "assistant"})


class _Author(msgspec.Struct, gc=False):
    role: str = ""


class _Content(msgspec.Struct, gc=False):
    content_type: str = ""
    parts: list[Any] | None = None


class _Message(msgspec.Struct, gc=False):
    id: str = ""
    author: _Author | None = None
    content: _Content | None = None
    create_time: float | None = None


class _Node(msgspec.Struct, gc=False):
    id: str = ""
    message: _Message | None = None
    parent: str | None = None


class _Link(msgspec.Struct, gc=False):
    parent: str | None = None


class _Tree(msgspec.Struct, gc=False):
    mapping: dict[str, _Node]
    title: str | None = None
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None


class _LooseTree(msgspec.Struct, gc=False):
    mapping: dict[str, msgspec.Raw]
    title: str | None = None
    current_node: str | None = None
    conversation_id: str | None = None
    id: str | None = None


_ROOT = re.compile(rb'"mapping"\s*:\s*\{\s*"([^"]+)"')
_TREE = msgspec.json.Decoder(_Tree)
_LOOSE = msgspec.json.Decoder(_LooseTree)
_NODE = msgspec.json.Decoder(_Node)
_LINK = msgspec.json.Decoder(_Link)


def read(export: Export) -> Iterator[Found]:
    """Return the conversations of an export, and the problems found in it."""
    return read_values(export, whole=_read_tree, part=_read_part)


def _read_tree(framed: Frame, path: str) -> Iterator[Found]:
    try:
        tree = decode(framed.data, _TREE)
    except ValueError:
        yield from _read_loosely(framed, path)
        return
    yield _conversation(tree, tree.mapping, framed, path)


def _read_loosely(framed: Frame, path: str) -> Iterator[Found]:
    """Yield the readable messages of a damaged conversation, and its problems."""
    try:
        tree = decode(framed.data, _LOOSE)
    except ValueError as error:
        yield Problem(path, framed.offset, str(error))
        return
    nodes = {}
    for name, raw in tree.mapping.items():
        try:
            nodes[name] = decode(bytes(raw), _NODE)
        except ValueError as error:
            yield Problem(path, framed.offset, f"message not readable: {error}")
            with suppress(ValueError):  # its parents are still part of the branch
                nodes[name] = _Node(parent=decode(bytes(raw), _LINK).parent)
    yield _conversation(tree, nodes, framed, path)


def _conversation(
    tree: _Tree | _LooseTree, nodes: dict[str, _Node], framed: Frame, path: str
) -> Conversation:
    return Conversation(
        id=tree.conversation_id or tree.id or f"byte-{framed.offset}",
        title=tree.title or "",
        path=path,
        messages=list(_messages(_branch(nodes, tree.current_node))),
    )


def _read_part(framed: Frame, path: str) -> Iterator[Found]:
    """Yield one message of a conversation that is too large to decode at once."""
    try:
        node = decode(framed.data, _NODE)
    except ValueError as error:
        yield Problem(path, framed.offset, str(error))
        return
    root = _ROOT.search(framed.part_of or b"")
    tree_id = root[1].decode("utf-8", "replace") if root else f"byte-{framed.offset}"
    if messages := list(_messages([node])):
        yield Conversation(id=tree_id, title="", path=path, messages=messages)


def _branch(nodes: dict[str, _Node], last: str | None) -> Iterable[_Node]:
    """Return the nodes from the root to the current one; all of them when none is current."""
    branch: list[_Node] = []
    while last in nodes and len(branch) < len(nodes):  # ends at a cycle
        branch.append(nodes[last])
        last = nodes[last].parent
    return branch[::-1] or nodes.values()


def _messages(nodes: Iterable[_Node]) -> Iterator[Message]:
    for node in nodes:
        found = node.message
        if found is None or found.content is None or found.author is None:
            continue
        if found.author.role not in _ROLES or found.content.content_type not in _TEXTS:
            continue
        parts = [part for part in found.content.parts or () if isinstance(part, str) and part]
        yield Message(
            id=found.id or node.id,
            text="\n\n".join(parts),
            is_person=found.author.role == "user",
            at=found.create_time,
        )
