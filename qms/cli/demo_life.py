"""The weeks that a demo root has lived: who stored, changed, disputed and deleted what, and when.

Each event is a command of its user, run at its time, so that audit log, archive and backups are
those that a server would have made.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import msgspec

Entry = dict[str, Any]

PEOPLE = {"ada": "curator", "ben": "curator"}
AGENT_USERS = {"ai:claude-code": "claude-code", "ai:cursor": "cursor", "ai:codex": "codex"}
"""The agents by the name that they sign with, and the users whose keys they have."""

DISPUTED, RESOLVED = 4, 1
"""How many facts of a project are disputed, and how many of these disputes are settled."""

BAD_LINE = '{"kind":"recipe","title":"Bread","body":{"text":"Flour, water, salt and time"}}\n'
"""What somebody typed into the file: the server keeps it and reports the kind."""

_TRUSTED = ("curationTier", "pinned", "isPermanent")
_NUMBER = re.compile(r"\d+")
_REVIEWED_EVERY, _DELETED_EVERY, _RECALLED_EVERY = 4, 13, 5
_BACKUP_HOUR = 3


class Event(msgspec.Struct, frozen=True):
    """A command that a user runs at a time; without a user, the administrator runs it."""

    at_utc: datetime
    user: str
    project: str | None
    command: str
    request: Entry
    agent_id: str | None = None


Run = Callable[[Event], Any]


def events(memories: dict[str, list[Entry]], until: datetime) -> list[Event]:
    """Return all events of a root, in the order of their time."""
    found = [event for project, entries in memories.items() for event in _life(project, entries)]
    found += _backups(min(event.at_utc for event in found), until)
    return sorted((one for one in found if one.at_utc <= until), key=lambda one: one.at_utc)


def _life(project: str, entries: list[Entry]) -> Iterator[Event]:
    for number, entry in enumerate(entries):
        yield from _stored(project, entry)
        yield from _worked_on(project, entry, number)
    facts = [one for one in entries if one["kind"] == "fact" and _NUMBER.search(one["title"])]
    if project != "shared":
        for number, fact in enumerate(facts[:DISPUTED]):
            yield from _disputed(project, fact, is_resolved=number < RESOLVED)


def _stored(project: str, entry: Entry) -> Iterator[Event]:
    """Yield how an agent stores an entry, and how a curator adds what only people may say of it."""
    at_utc, agent = _time(entry), entry.get("agentId")
    trusted = {name: entry[name] for name in _TRUSTED if name in entry}
    plain = {name: value for name, value in entry.items() if name not in (*_TRUSTED, "timestamps")}
    plain.pop("agentId", None)
    user = AGENT_USERS.get(agent or "", "")
    yield Event(at_utc, user, project, "upsertEntry", {"entry": plain}, agent)
    if trusted:
        at_utc += timedelta(hours=2)
        yield Event(at_utc, "", project, "patchEntry", {"id": entry["id"], "patch": trusted})


def _worked_on(project: str, entry: Entry, number: int) -> Iterator[Event]:
    """Yield how others review, recall and clean up."""
    at_utc, entry_id = _time(entry), entry["id"]
    person = list(PEOPLE)[number % len(PEOPLE)]
    agent = list(AGENT_USERS)[(number + 1) % len(AGENT_USERS)]
    if number % _RECALLED_EVERY == 0:
        request = {"query": entry["title"], "limit": 3}
        later = at_utc + timedelta(hours=5)
        yield Event(later, AGENT_USERS[agent], project, "recall", request, agent)
    if number % _REVIEWED_EVERY == 1 and "curationTier" not in entry:
        tags = [*entry.get("tags", ()), "reviewed"]
        request = {"id": entry_id, "patch": {"tags": tags, "curationTier": "curated"}}
        yield Event(at_utc + timedelta(hours=26), person, project, "patchEntry", request)
    if number % _DELETED_EVERY == 0 and project != "shared":
        draft = f"{entry_id}-draft"
        note = {"text": f"A draft of: {entry['title']}"}
        body = {"id": draft, "kind": "note", "title": f"Draft: {entry['title']}", "body": note}
        user = AGENT_USERS[agent]
        yield Event(at_utc, user, project, "upsertEntry", {"entry": body}, agent)
        later = at_utc + timedelta(hours=30)
        yield Event(later, person, project, "deleteEntry", {"id": draft})


def _disputed(project: str, fact: Entry, *, is_resolved: bool) -> Iterator[Event]:
    """Yield how another agent stores another figure; some disputes are settled by a person."""
    at_utc = _time(fact) + timedelta(days=2)
    doubled = _NUMBER.sub(lambda found: str(2 * int(found[0])), fact["title"], count=1)
    agent = next(one for one in AGENT_USERS if one != fact.get("agentId"))
    other = {
        "id": f"{fact['id']}-measured-again",
        "kind": "fact",
        "title": doubled,
        "body": {"statement": doubled},
        "tags": fact["tags"],
        "relations": [{"type": "contradicts", "targetId": fact["id"]}],
    }
    yield Event(at_utc, AGENT_USERS[agent], project, "upsertEntry", {"entry": other}, agent)
    if is_resolved:
        request = {"winner": fact["id"], "loser": other["id"]}
        yield Event(at_utc + timedelta(days=1), "ada", project, "resolveContradiction", request)


def _backups(since: datetime, until: datetime) -> Iterator[Event]:
    """Yield a full backup for every week, and a differential one for the other nights."""
    night = since.replace(hour=_BACKUP_HOUR, minute=0, second=0, microsecond=0)
    for day in range(1, (until - since).days + 1):
        mode = "full" if day % 7 == 1 else "differential"
        yield Event(night + timedelta(days=day), "", None, "orderBackups", {"mode": mode})


def _time(entry: Entry) -> datetime:
    return datetime.fromisoformat(entry["timestamps"]["createdUtc"])
