"""What basic-memory and wikis write into the text of a note: observations, relations, links."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from qms.ingest.entities import relation_document

MENTIONS = "mentions"
"""The relation to a note that a text links to in passing."""

MAX_TAGS = 50
MAX_RELATIONS = 1000

_TYPES = {
    "relates_to": "relatedTo",
    "related_to": "relatedTo",
    "links_to": MENTIONS,
    "part_of": "partOf",
    "derived_from": "derivedFrom",
}
_FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[\[(?P<target>[^\[\]|#\n]+)[^\[\]\n]*\]\]")
_RELATION = re.compile(r"[-*] +(?:\"(?P<quoted>[^\"]+)\"|(?P<type>[^\[\]\n\"]+?)) +\[\[.+")
_OBSERVATION = re.compile(r"[-*] +\[(?P<category>[^\[\]()\n]+)\] +(?P<content>.+)")
_TASK = re.compile(r"[ xX-]")
_TAG = re.compile(r"(?<![\w/#&])#(?P<tag>[^\W\d_][\w/-]*)")


class Link(msgspec.Struct, frozen=True):
    """A link to a note by whatever it is called, and how it is related."""

    target: str
    type: str


class Marks(msgspec.Struct, frozen=True):
    """What the lines of a note say besides its text."""

    links: list[Link]
    tags: list[str]
    categories: list[str]


def read_marks(text: str) -> Marks:
    """Return the links of a text, and the tags and categories of its observations."""
    plain = _CODE.sub("", _FENCE.sub("", text))
    lines = [line.strip() for line in plain.split("\n")]
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
    """Return the links as relations; one to a note that is not among `ids` stays text only."""
    typed: dict[str, list[str]] = {}
    for link in links:
        target = ids.get(name_key(link.target))
        if target is not None and target != own_id:
            typed.setdefault(target, []).append(link.type)
    made = []
    for target, types in typed.items():
        # What is said of a link in one line is not said again by the same link in passing.
        said = [one for one in types if one != MENTIONS] or [MENTIONS]
        made += [relation_document(target, _TYPES.get(one, one)) for one in dict.fromkeys(said)]
    return made


def name_key(name: str) -> str:
    """Return what the ways to spell a note's name have in common."""
    return " ".join(name.removesuffix(".md").replace("_", " ").casefold().split())


def _links(line: str) -> Iterator[Link]:
    related = _RELATION.fullmatch(line)
    kind = (related["quoted"] or related["type"]).strip() if related else MENTIONS
    if related and len(kind.split()) > 1 and not related["quoted"]:
        kind = MENTIONS  # a sentence that begins a list item, not a type
    for position, found in enumerate(_LINK.finditer(line)):
        yield Link(found["target"].strip(), kind if position == 0 else MENTIONS)
