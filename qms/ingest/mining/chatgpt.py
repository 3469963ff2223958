"""The export of ChatGPT: `conversations.json`, an array of trees; the branch last seen counts."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec

from qms.ingest.exports import Export
from qms.ingest.mining.conversation import Conversation, Found, Message, Problem
from qms.ingest.mining.frames import Frame
from qms.ingest.mining.reading import decode, read_values

FILES = re.compile(r"(?:.*/)?conversations[^/]*\.json")

_SPOKEN = frozenset({"text", "multimodal_text"})
_ROLES = frozenset({"user", "assistant"})


class _Author(msgspec.Struct, gc=False):
    role: str = ""


class _Content(msgspec.Struct, gc=False):
    content_type: str = ""
    parts: list[Any] | None = None


class _Said(msgspec.Struct, gc=False):
    id: str = ""
    author: _Author | None = None
    content: _Content | None = None
    create_time: float | None = None


class _Node(msgspec.Struct, gc=False):
    id: str = ""
    message: _Said | None = None
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
    """Return the conversations of an export, and what of it could not be read."""
    return read_values(export, whole=_read_tree, part=_read_part)


def _read_tree(framed: Frame, path: str) -> Iterator[Found]:
    try:
        tree = decode(framed.data, _TREE)
    except ValueError:
        yield from _read_loosely(framed, path)
        return
    yield _conversation(tree, tree.mapping, framed, path)


def _read_loosely(framed: Frame, path: str) -> Iterator[Found]:
    """Yield what can be read of a conversation that is not all right."""
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
            yield Problem(path, framed.offset, f"a message of it: {error}")
            with suppress(ValueError):  # the branch goes on above it
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
    """Yield one message of a conversation that is too large to be read at once."""
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
    """Return the nodes from the first to the one last seen; all of them when that is not told."""
    branch: list[_Node] = []
    while last in nodes and len(branch) < len(nodes):  # a circle would go on for ever
        branch.append(nodes[last])
        last = nodes[last].parent
    return branch[::-1] or nodes.values()


def _messages(nodes: Iterable[_Node]) -> Iterator[Message]:
    for node in nodes:
        said = node.message
        if said is None or said.content is None or said.author is None:
            continue
        if said.author.role not in _ROLES or said.content.content_type not in _SPOKEN:
            continue
        parts = [part for part in said.content.parts or () if isinstance(part, str) and part]
        yield Message(
            id=said.id or node.id,
            text="\n\n".join(parts),
            is_person=said.author.role == "user",
            at=said.create_time,
        )
