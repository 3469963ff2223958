"""`qms demo`: create a root with a few hundred sample memories of two invented products."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from qms.cli.instants import now
from qms.cli.local import Local
from qms.config.root import CONFIGURATION_NAME
from qms.memory.errors import ConflictError
from qms.memory.validation import instant_text

PROJECTS = {"atlas": "Atlas, the shop", "pelican": "Pelican, the hiking app"}
AGENTS = ("ai:claude-code", "ai:cursor", "ai:codex")

_HOURS_APART = 7
_TEXTS = Path(__file__).with_name("demo_texts.json")

Entry = dict[str, Any]


class Part(msgspec.Struct, frozen=True):
    """One part of a product."""

    name: str
    tag: str
    fact: str
    trouble: str
    remedy: str
    decision: str
    reason: str
    metric: str
    value: float
    question: str


class Texts(msgspec.Struct, frozen=True):
    """The parts of two invented products, and the conventions of a team."""

    atlas: list[Part]
    pelican: list[Part]
    conventions: list[tuple[str, str]]


class Seeded(msgspec.Struct, frozen=True):
    """The number of entries created, and the admin key."""

    entries: int
    admin_key: str | None


def seed(root: Path) -> Seeded:
    """Create a root with the sample memories.

    Raises:
        ConflictError: the folder is already a root; nothing is changed.
    """
    if (root / CONFIGURATION_NAME).exists():
        raise ConflictError(f"{root} is already a root: pass another folder with --root")
    local = Local(root, command="qms demo")
    try:
        for slug, name in PROJECTS.items():
            local.administer("createProject", {"slug": slug, "settings": {"name": name}})
        count = sum(_import(local, slug, entries) for slug, entries in memories(now()).items())
        return Seeded(entries=count, admin_key=local.first_key)
    finally:
        local.close()


def memories(at_utc: datetime) -> dict[str, list[Entry]]:
    """Return the entries of every project; the same time gives the same entries."""
    texts = msgspec.json.decode(_TEXTS.read_bytes(), type=Texts)
    own = {slug: list(_of_product(getattr(texts, slug))) for slug in PROJECTS}
    return {
        slug: [
            _dated(_placed(entry, slug), at_utc - timedelta(hours=1 + _HOURS_APART * age))
            for age, entry in enumerate(reversed(entries))
        ][::-1]
        for slug, entries in {"shared": list(_of_team(texts.conventions)), **own}.items()
    }


def _import(local: Local, project: str, entries: list[Entry]) -> int:
    body = msgspec.json.encode({"entries": entries, "onError": "abort"})
    imported: int = local.send(project, "bulkImport", body)["imported"]
    return imported


def _of_team(conventions: list[tuple[str, str]]) -> Iterator[Entry]:
    for number, (title, text) in enumerate(conventions):
        entry = _entry(f"convention-{number + 1}", "fact", title, {"statement": text}, ["team"])
        yield {**entry, "curationTier": "canonical", "pinned": number < 2, "priority": 8}


def _of_product(parts: list[Part]) -> Iterator[Entry]:
    for number, part in enumerate(parts):
        for entry in _of_part(part):
            yield {"agentId": AGENTS[number % len(AGENTS)], **entry}


def _of_part(part: Part) -> Iterator[Entry]:
    """Yield the memories of one part, oldest first."""
    tag, name = part.tag, part.name
    curated = {"curationTier": "curated"}
    yield _entry(f"{tag}-fact", "fact", part.fact, {"statement": part.fact}, [tag]) | curated
    yield _entry(
        f"{tag}-incident",
        "timelineEvent",
        f"{name}: {part.trouble}",
        {"summary": f"Found in production: {part.trouble}."},
        [tag, "incident"],
        mentions=f"{tag}-fact",
    )
    yield _entry(
        f"{tag}-measured",
        "observation",
        f"{name} measured: {part.metric}",
        {"metric": part.metric, "value": part.value},
        [tag, "measurement"],
        derivedFrom=f"{tag}-incident",
    )
    yield _entry(
        f"{tag}-question",
        "question",
        part.question,
        {"text": part.question},
        [tag, "open"],
        relatedTo=f"{tag}-fact",
    )
    yield _entry(
        f"{tag}-decision",
        "decision",
        part.decision,
        {"decision": f"{part.decision}.", "rationale": f"{part.reason}."},
        [tag, "decision"],
        derivedFrom=f"{tag}-incident",
        ref=f"{tag}-measured",
    ) | {"curationTier": "canonical", "priority": 8}
    yield (
        _entry(
            f"{tag}-runbook",
            "procedure",
            f"When {part.trouble}",
            {"steps": [f"Look at {part.metric}", part.remedy, "Write down what was different"]},
            [tag, "runbook"],
            ref=f"{tag}-decision",
        )
        | curated
    )
    yield _entry(
        f"{tag}-task",
        "task",
        part.remedy,
        {"summary": f"{part.remedy}, so that it does not happen again."},
        [tag],
        partOf=f"{tag}-runbook",
    )
    yield _entry(
        f"{tag}-turn",
        "conversationTurn",
        f"About {name.lower()}",
        {
            "content": f"I was asked why {part.trouble}. {part.reason}, so: {part.decision}.",
            "role": "assistant",
            "conversationId": f"{tag}-review",
        },
        [tag],
        answers=f"{tag}-question",
    )
    yield _entry(
        f"{tag}-note",
        "note",
        f"{name}, in one paragraph",
        {"text": f"{part.fact}. {part.decision}: {part.reason.lower()}. Open: {part.question}"},
        [tag, "summary"],
        mentions=f"{tag}-decision",
    )


def _entry(
    local_id: str, kind: str, title: str, body: Entry, tags: list[str], **relations: str
) -> Entry:
    links = [{"type": name, "targetId": target} for name, target in relations.items()]
    return {"id": local_id, "kind": kind, "title": title, "body": body, "tags": tags} | (
        {"relations": links} if links else {}
    )


def _placed(entry: Entry, slug: str) -> Entry:
    links = [{**one, "targetId": f"{slug}:{one['targetId']}"} for one in entry.get("relations", ())]
    return {**entry, "id": f"{slug}:{entry['id']}", "relations": links}


def _dated(entry: Entry, at_utc: datetime) -> Entry:
    stamp = instant_text(at_utc)
    return {**entry, "timestamps": {"createdUtc": stamp, "updatedUtc": stamp}}
