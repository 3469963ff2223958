"""Reads observations, relations and links in the notes of basic-memory and wikis."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from qms.memory.entities import relation_document

MENTIONS = "mentions"
"""The relation of a link without a type of its own."""

MAX_TAGS = 50
MAX_RELATIONS = 1000

_TYPES = {
    "relates_to": "relatedTo",
    "related_to": "relatedTo",
    "links_to": MENTIONS,
    "part_of": "partOf",
    "derived_from": "derivedFrom",
}
_FENCES = ("```", "~~~")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[\[(?P<target>[^\[\]|#\n]++)(?:[|#][^\[\]\n]*+)?\]\]")
_LIST_ITEMS = ("- ", "* ")
_IN_NO_TYPE = frozenset('[]"')
_OBSERVATION = re.compile(r"[-*] +\[(?P<category>[^\[\]()\n]+)\] +(?P<content>.+)")
_TASK = re.compile(r"[ xX-]")
_TAG = re.compile(r"(?<![\w/#&])#(?P<tag>[^\W\d_][\w/-]*)")


class Link(msgspec.Struct, frozen=True):
    """A link to a note by one of its names, and the type of the relation."""

    target: str
    type: str


class Marks(msgspec.Struct, frozen=True):
    """The links, tags and categories in the text of a note."""

    links: list[Link]
    tags: list[str]
    categories: list[str]


def read_marks(text: str) -> Marks:
    """Return the links of a text, and the tags and categories of its observations."""
    lines = [_CODE.sub("", line).strip() for line in _outside_fences(text.split("\n"))]
    links = dict.fromkeys(link for line in lines for link in _links(line))
    tags: dict[str, None] = {}
    categories: dict[str, None] = {}
    for line in lines:
        found = _OBSERVATION.fullmatch(line)
        if found is not None and not _TASK.fullmatch(found["category"]):
            categories[found["category"].strip()] = None
            tags |= dict.fromkeys(tag["tag"] for tag in _TAG.finditer(found["content"]))
    return Marks(list(links)[:MAX_RELATIONS], list(tags)[:MAX_TAGS], list(categories)[:MAX_TAGS])


def relations(links: list[Link], ids: dict[str, str], own_id: str) -> list[dict[str, Any]]:
    """Return the links as relations; a link to a note that is not in `ids` is left out."""
    typed: dict[str, list[str]] = {}
    for link in links:
        target = ids.get(name_key(link.target))
        if target is not None and target != own_id:
            typed.setdefault(target, []).append(link.type)
    made = []
    for target, types in typed.items():
        # A typed link replaces plain links to the same target.
        kept = [one for one in types if one != MENTIONS] or [MENTIONS]
        made += [relation_document(target, _TYPES.get(one, one)) for one in dict.fromkeys(kept)]
    return made


def name_key(name: str) -> str:
    """Return the normalised form of a note's name."""
    return " ".join(name.removesuffix(".md").replace("_", " ").casefold().split())


def _links(line: str) -> Iterator[Link]:
    kind = _relation_type(line) or MENTIONS
    for position, found in enumerate(_LINK.finditer(line)):
        yield Link(found["target"].strip(), kind if position == 0 else MENTIONS)


def _relation_type(line: str) -> str:
    """Return the relation type before the first link of a list item, or nothing."""
    if not line.startswith(_LIST_ITEMS):
        return ""
    item = line[2:].lstrip(" ")
    if item.startswith('"'):
        kind, _, rest = item[1:].partition('"')
        is_related = rest.startswith(" ") and rest.lstrip(" ").startswith("[[")
        return kind.strip() if is_related else ""
    kind, link, _ = item.partition("[[")
    is_related = bool(link) and kind.endswith(" ") and not _IN_NO_TYPE.intersection(kind)
    # Several words are a sentence that begins a list item, not a type.
    return kind.strip() if is_related and len(kind.split()) == 1 else ""


def _outside_fences(lines: list[str]) -> Iterator[str]:
    """Yield the lines outside of fences; an unclosed fence is plain text."""
    last = {line.rstrip(" \t"): number for number, line in enumerate(lines)}
    closing = ""
    for number, line in enumerate(lines):
        if closing:
            closing = "" if line.rstrip(" \t") == closing else closing
        elif line.startswith(_FENCES) and last.get(line[:3], -1) > number:
            closing = line[:3]
        else:
            yield line
