"""One run of an import: sends new entries to the project in batches and counts the results."""

from collections.abc import Iterator
from typing import Any

import msgspec

from qms.cli.lists import pages
from qms.cli.skipped import MAX_PROBLEMS, SkippedItems
from qms.cli.target import Session
from qms.features.sync.rule import StepKind
from qms.features.transfer.importers.items import Broken, Found, Item, restamped
from qms.memory.entry import Document, split_id

BATCH_ENTRIES = 200
BATCH_BYTES = 512 * 1024
"""With one more entry than this, a request is still below `bodyBytes`."""


class Manner(msgspec.Struct, frozen=True, kw_only=True):
    """How entries are stored."""

    trusts_source: bool = False
    is_exact: bool = False
    is_dry: bool = False


class Alike(msgspec.Struct, frozen=True):
    """A memory with the same kind and title as another one; both are kept."""

    place: str
    title: str
    like: str


class Outcome(SkippedItems, kw_only=True, rename="camel"):
    """The result of an import, as `--json` prints it."""

    dry_run: bool
    found: int = 0
    """What was read: the sum of `imported`, `known` and `problem_count`."""

    imported: int = 0
    known: int = 0
    """Entries whose id already exists, or that duplicate an existing entry."""

    alike_count: int = 0
    alike: list[Alike] = msgspec.field(default_factory=list)
    mapping: dict[str, str] = msgspec.field(default_factory=dict)
    """From each name in the file to the field that it fills."""
    vectors: dict[str, Any] | None = None
    """How many entries of the project have vectors; None when it is not known."""

    warnings: list[str] = msgspec.field(default_factory=list)
    """Warnings of the server about stored entries, at most MAX_PROBLEMS."""

    def warn(self, warning: str) -> None:
        """Add a warning about a stored entry, up to the limit."""
        if len(self.warnings) < MAX_PROBLEMS:
            self.warnings.append(warning)

    def note_alike(self, one: Alike) -> None:
        """Count a memory with the title of another one, and list it up to the limit."""
        self.alike_count += 1
        if len(self.alike) < MAX_PROBLEMS:
            self.alike.append(one)


class Present:
    """What the project contains: ids, and the id of each kind and title."""

    def __init__(self, ids: set[str], titles: dict[tuple[str, str], str]) -> None:
        self.ids = ids
        self.titles = titles
        self.seen: set[str] = set()
        """The ids that this run has read."""

    @classmethod
    def of(cls, session: Session) -> "Present":
        """List all entries of the project."""
        present = cls(set(), {})
        for page in pages(session, {"include": "summary", "sort": "created"}):
            for item in page["items"]:
                present.ids.add(split_id(item["id"])[1])
                present.titles.setdefault(_title_key(item), item["id"])
        return present

    def copy(self) -> "Present":
        """Return a copy for another run."""
        return Present(self.ids, dict(self.titles))


def run(
    items: Iterator[Item], session: Session, manner: Manner, present: Present, outcome: Outcome
) -> Iterator[None]:
    """Store new entries and yield after every batch; a batch is stored as a whole."""
    for batch in _batches(_new(items, present, outcome)):
        entries = [
            restamped(one.document, trusts_source=manner.trusts_source or manner.is_exact)
            for one in batch
        ]
        send = _send_exactly if manner.is_exact and not manner.is_dry else _send
        send(session, batch, entries, outcome)
        yield


def _new(items: Iterator[Item], present: Present, outcome: Outcome) -> Iterator[Found]:
    """Yield entries that the project does not have yet, and count the others."""
    for item in items:
        outcome.found += 1
        if isinstance(item, Broken):
            outcome.complain(
                item.place, f"{item.field}: {item.reason}" if item.field else item.reason
            )
            continue
        local = item.document.get("id")
        if isinstance(local, str):
            if local in present.seen:
                outcome.complain(item.place, f"id: {local} occurs twice in the file")
                continue
            present.seen.add(local)
        if local in present.ids:
            outcome.known += 1
            continue
        _compare(item, present, outcome)
        yield item


def _compare(item: Found, present: Present, outcome: Outcome) -> None:
    title = item.document.get("title")
    if not isinstance(title, str):
        return
    like = present.titles.setdefault(_title_key(item.document), item.place)
    if like != item.place:
        outcome.note_alike(Alike(item.place, title, like))


def _title_key(entry: Document) -> tuple[str, str]:
    return str(entry.get("kind")), str(entry.get("title")).casefold()


def _batches(items: Iterator[Found]) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(msgspec.json.encode(item.document))
        if len(batch) >= BATCH_ENTRIES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _send(session: Session, batch: list[Found], entries: list[Any], outcome: Outcome) -> None:
    request = {"entries": entries, "dryRun": outcome.dry_run}
    answer = session.call(session.project, "bulkImport", request)
    outcome.imported += answer["imported"] + answer["updated"]
    outcome.known += answer["skipped"] - len(answer["errors"])
    for fault in answer["errors"]:
        outcome.complain(batch[fault["index"]].place, fault["message"])
    for notice in answer.get("warnings", ()):
        outcome.warn(f"{batch[notice['index']].place}: {notice['message']}")


def _send_exactly(
    session: Session, batch: list[Found], entries: list[Any], outcome: Outcome
) -> None:
    """Store entries exactly as in the file, like a sync does."""
    places: dict[str, str] = {}
    changes = []
    for item, entry in zip(batch, entries, strict=True):
        full = f"{session.project}:{entry.get('id', '')}"
        places[full] = item.place
        whole = {**entry, "id": full, "project": session.project}
        changes.append({"id": full, "kind": StepKind.CREATE, "expected": None, "entry": whole})
    answer = session.call(session.project, "syncApply", {"changes": changes})
    outcome.imported += len(answer["versions"])
    for fault in answer["faults"]:
        outcome.complain(places[fault["id"]], fault["message"])
