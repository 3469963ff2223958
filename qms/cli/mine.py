"""`memoryctl mine`: extract memories from exported conversations and store them with provenance."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import RETENTIONS
from qms.cli.lists import pages
from qms.cli.progress import BYTES, Progress
from qms.cli.skipped import SkippedItems
from qms.cli.target import Asked, Session, open_session
from qms.features.mining.conversation import Conversation, Problem
from qms.features.mining.memories import (
    ID_PREFIX,
    Memory,
    Provenance,
    entry_of,
    find_memories,
    memory_by_model,
    spoken_text,
)
from qms.features.mining.mining_formats import DEFAULT_MIN_MESSAGES, FORMATS, read_export
from qms.features.mining.statements import Statement
from qms.memory.entry import NAMESPACE, Retention, split_id
from qms.memory.errors import InvalidInputError, invalid

BATCH_ENTRIES = 200
MAX_PICKED = 10


FindMemories = Callable[[Conversation], Iterator[Memory]]


class Tally(SkippedItems, kw_only=True, rename="camel"):
    """The result of a run, as `--json` prints it."""

    dry_run: bool
    conversations: int = 0
    messages: int = 0
    found: int = 0
    known: int = 0
    imported: int = 0
    by_rule: Counter[str] = msgspec.field(default_factory=Counter)
    by_method: Counter[str] = msgspec.field(default_factory=Counter)
    """With --llm: the number of conversations read by the model and by the rule."""


@click.command(
    cls=Verb, example="memoryctl mine conversations.json --format claude --min-messages 5 --dry-run"
)
@click.argument("path", type=click.Path(path_type=Path), metavar="PATH")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    required=True,
    help="Program that wrote the export; PATH is a file, a folder or the downloaded archive.",
)
@click.option(
    "--min-messages",
    metavar="N",
    type=click.IntRange(1),
    default=DEFAULT_MIN_MESSAGES,
    show_default=True,
    help="Skip shorter conversations.",
)
@click.option(
    "--retention",
    type=RETENTIONS,
    default=Retention.MID.value,
    show_default=True,
    help="Retention of the memories.",
)
@click.option("--namespace", metavar="NAME", help="Namespace of the memories.")
@click.option("--dry-run", is_flag=True, help="Show what would be stored.")
@click.option("--llm", is_flag=True, help="Let the language model of [llm] select the sentences.")
@shared_options
def mine(
    asked: Asked,
    path: Path,
    form: str,
    min_messages: int,
    retention: str,
    namespace: str | None,
    dry_run: bool,
    llm: bool,
) -> None:
    """Extract facts, decisions, preferences, procedures and code from exported conversations.

    A second run, also over a later export, stores only what is new. Deleted memories stay deleted.
    """
    if namespace is not None and not NAMESPACE.fullmatch(namespace):
        raise invalid("namespace", "must be 1 to 128 characters without spaces and slashes")
    provenance = Provenance(format=form, retention=Retention(retention), namespace=namespace)
    tally = Tally(dry_run=dry_run)
    with open_session(asked) as session:
        store = _Store(session, tally, provenance)
        _mine(path, min_messages, store, Picker(session, tally) if llm else find_memories)
    _report(tally, as_json=asked.as_json)


def _mine(path: Path, min_messages: int, store: "_Store", find: FindMemories) -> None:
    progress = Progress()
    form = store.provenance.format
    try:
        with read_export(path, form, min_messages=min_messages) as (export, found):
            for one in found:
                progress.show("mining", export.read_bytes, export.total_bytes, BYTES)
                if isinstance(one, Problem):
                    place = str(one).removesuffix(f": {one.reason}")
                    store.tally.complain(place, one.reason)
                    continue
                store.tally.conversations += 1
                store.tally.messages += len(one.messages)
                for memory in find(one):
                    store.add(entry_of(memory, one, store.provenance), memory.rule)
            store.flush()
    finally:
        progress.end()
    if not store.tally.messages and not store.tally.problems:
        raise InvalidInputError(f"{path} contains no conversation long enough", field="path")


class Picker:
    """Selects sentences with the server's language model, or with the rule where it fails."""

    def __init__(self, session: Session, tally: Tally) -> None:
        self._session = session
        self._tally = tally
        self._last_id = ""
        self._was_done = False

    def __call__(self, conversation: Conversation) -> Iterator[Memory]:
        """Yield the memories of a conversation."""
        if self._is_done(conversation):
            # The model would choose other words each time, which would give other ids.
            yield from find_memories(conversation, says=False)
            return
        answer = self._ask(conversation)
        self._tally.by_method[answer["method"]] += 1
        if answer["method"] == "rule":
            yield from find_memories(conversation)
            return
        yield from find_memories(conversation, says=False)
        for said in answer["memories"]:
            statement = Statement(said["rule"], said["text"], said["confidence"])
            yield memory_by_model(statement, conversation)

    def _ask(self, conversation: Conversation) -> dict[str, Any]:
        text = spoken_text(conversation)
        if not text:
            return {"method": "rule"}
        request = {"text": text, "maxMemories": MAX_PICKED}
        answer: dict[str, Any] = self._session.call(
            self._session.project, "extractMemories", request
        )
        return answer

    def _is_done(self, conversation: Conversation) -> bool:
        if conversation.id != self._last_id:  # else the next part of the same one
            wanted = {"conversationId": conversation.id, "method": "llm"}
            request = {"filter": {"metadata": wanted}, "include": "ids", "page": {"size": 1}}
            found = self._session.call(self._session.project, "listEntries", request)
            self._last_id, self._was_done = conversation.id, bool(found["items"])
        return self._was_done


class _Store:
    """Collects new entries and stores them in batches."""

    def __init__(self, session: Session, tally: Tally, provenance: Provenance) -> None:
        self.tally = tally
        self.provenance = provenance
        self._session = session
        self._known = set(_known_ids(session, provenance.format))
        self._waiting: list[dict[str, Any]] = []

    def add(self, entry: dict[str, Any], rule: str) -> None:
        """Add an entry to the next batch, unless it was mined before."""
        self.tally.found += 1
        if entry["id"] in self._known:
            self.tally.known += 1
            return
        self._known.add(entry["id"])
        self.tally.by_rule[rule] += 1
        self._waiting.append(entry)
        if len(self._waiting) >= BATCH_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """Store the current batch."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        request = {"entries": batch, "dryRun": self.tally.dry_run}
        answer = self._session.call(self._session.project, "bulkImport", request)
        self.tally.imported += answer["imported"]
        for fault in answer["errors"]:
            self.tally.complain(repr(batch[fault["index"]]["title"]), fault["message"])


def _known_ids(session: Session, form: str) -> Iterator[str]:
    """Yield the ids of everything mined before, including archived memories."""
    living = {"filter": {"sourceType": form}, "sort": "created", "include": "ids"}
    for command, request in (("listEntries", living), ("listArchive", {})):
        for page in pages(session, request, command=command):
            mined = (split_id(item["id"])[1] for item in page["items"])
            yield from (local for local in mined if local.startswith(ID_PREFIX))


def _report(tally: Tally, *, as_json: bool) -> None:
    if as_json:
        output.answer(msgspec.to_builtins(tally))
    elif tally.by_rule:
        rows = [(rule, str(count)) for rule, count in sorted(tally.by_rule.items())]
        output.table(["RULE", "NEW"], rows, flexible=0)
    what = f"{tally.conversations:,} conversations with {tally.messages:,} messages read"
    done = f"{tally.imported:,} memories {'would be stored' if tally.dry_run else 'stored'}"
    output.note(f"{what}; {done}, {tally.known:,} mined before")
    if tally.by_method:
        model, rule = tally.by_method["llm"], tally.by_method["rule"]
        output.note(f"the language model read {model:,} of them, the rule {rule:,}")
    tally.end()
