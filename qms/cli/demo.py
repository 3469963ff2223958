"""`qms demo`: create a root with a month of work by agents and people on two invented products."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from qms.cli.demo_life import AGENT_USERS, BAD_LINE, PEOPLE, Event, events
from qms.cli.instants import now
from qms.cli.local import Local
from qms.config.root import CONFIGURATION_NAME
from qms.disk.disk import Disk
from qms.disk.permissions import Rights, make_folder
from qms.memory.errors import ConflictError
from qms.memory.validation import instant_text
from qms.resources import TEMPLATE_NAME, find_resource

PROJECTS = {"atlas": "Atlas, the shop", "pelican": "Pelican, the hiking app"}
AGENTS = tuple(AGENT_USERS)

_HOURS_APART = 7
_EDITED = "pelican"
_USERS = PEOPLE | dict.fromkeys(AGENT_USERS.values(), "writer")
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
    until = now()
    made = memories(until)
    story = events(made, until)
    moment = story[0].at_utc
    _write_configuration(root)
    local = Local(root, command="qms demo", clock=lambda: moment)
    try:
        keys = {user: _user(local, user, tier) for user, tier in _USERS.items()}
        for event in story:
            moment = event.at_utc
            _run(local, event, keys)
        moment = until
        count = sum(_count(local, slug) for slug in made)
    finally:
        local.close()
    _edit_by_hand(root)
    return Seeded(entries=count, admin_key=local.first_key)


def _write_configuration(root: Path) -> None:
    """Write the settings of a new root; the page opens the first project that is not shared."""
    text = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
    added = "".join(
        f'[endpoint.{slug}]\nslug = "{slug}"\nname = "{name}"\nincludeShared = true\n\n'
        for slug, name in PROJECTS.items()
    )
    before, default, after = text.partition("[endpoint.default]\n")
    make_folder(root, Rights())
    Disk().put(root / CONFIGURATION_NAME, (before + added + default + after).encode())


def _user(local: Local, user: str, tier: str) -> str:
    """Create a user and return its key."""
    local.administer("createUser", {"user": user, "tier": tier})
    key: str = local.administer("createKey", {"user": user, "label": "demo"})["key"]
    return key


def _run(local: Local, event: Event, keys: dict[str, str]) -> None:
    if event.project is None:
        local.administer(event.command, event.request)
    elif not event.user:
        local.send(event.project, event.command, msgspec.json.encode(event.request))
    else:
        key = keys[event.user]
        local.call_with_key(key, event.project, event.command, event.request, event.agent_id)


def _count(local: Local, project: str) -> int:
    count: int = local.send(project, "stats", b"{}")["entries"]
    return count


def _edit_by_hand(root: Path) -> None:
    """Add a line that is not valid, as a person could: the server reports it."""
    path = root / "MemoryStores" / _EDITED / "entries.jsonl"
    Disk().put(path, path.read_bytes() + BAD_LINE.encode())


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
