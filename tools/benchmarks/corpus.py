"""Generated entries: the same for the same seed, about 700 bytes a line."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from qms.disk.disk import Disk
from qms.memory.bodies import MAIN_FIELDS, Kind
from qms.memory.entry import SCHEMA_VERSION, Document
from qms.memory.ids import RANDOM_BYTES, make_local_id
from qms.memory.lines import encode_line
from qms.memory.validation import instant_text, normalise
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions

SEED = 20261116
KINDS = (Kind.NOTE, Kind.FACT, Kind.DECISION, Kind.OBSERVATION, Kind.CONVERSATION_TURN)
_START = datetime(2026, 1, 1, tzinfo=UTC)
_CONSONANTS = "bcdfghjklmnprstvwz"
_VOWELS = "aeiou" * 200 + "äöü"
_TEXT_WORDS = 44
_RELATED_SHARE = 0.1
_SHARED_TITLE_SHARE = 0.02


def documents(project: str, count: int, seed: int = SEED) -> Iterator[Document]:
    """Yield entries in their stored form, with tags, relations and some equal titles."""
    chance = random.Random(f"{project}/{seed}")
    words = ["".join(_syllables(chance)) for _ in range(4000)]
    titles = [" ".join(chance.choices(words, k=3)) for _ in range(max(1, count // 100))]
    ids: list[str] = []
    for number in range(count):
        at = _START + timedelta(seconds=97 * number)
        entry_id = f"{project}:{make_local_id(at, chance.randbytes(RANDOM_BYTES))}"
        document = _document(entry_id, chance, words, at)
        if chance.random() < _SHARED_TITLE_SHARE:
            document["title"] = chance.choice(titles)
        if ids and chance.random() < _RELATED_SHARE:
            document["relations"] = [{"type": "relatedTo", "targetId": chance.choice(ids)}]
        ids.append(entry_id)
        yield normalise(document)


def lines(project: str, count: int, seed: int = SEED) -> list[bytes]:
    """Return the lines of generated entries, without newlines."""
    return [encode_line(document) for document in documents(project, count, seed)]


def text_of(document: Document) -> str:
    """Return the main text of an entry."""
    text: str = document["body"][MAIN_FIELDS[Kind(document["kind"])][0]]
    return text


def make_store(folder: Path, project: str, content: list[bytes]) -> None:
    """Make the folder of a store that was folded and closed."""
    folder.mkdir(parents=True)
    (folder / "entries.jsonl").write_bytes(b"".join(line + b"\n" for line in content))
    store = open_store(folder, project)
    store.fold()
    store.close()


def open_store(folder: Path, project: str, disk: Disk | None = None) -> MemoryStore:
    """Open a store with the server's options."""
    return MemoryStore.open(
        folder,
        project,
        disk=disk or Disk(),
        options=StoreOptions(),
        backup_root=folder / "backups",
        clock=lambda: datetime.now(UTC),
    )


def _document(entry_id: str, chance: random.Random, words: list[str], at: datetime) -> Document:
    kind = chance.choice(KINDS)
    text = " ".join(chance.choices(words, k=_TEXT_WORDS))
    body = {MAIN_FIELDS[kind][0]: text}
    if kind is Kind.CONVERSATION_TURN:
        body["role"] = chance.choice(("user", "assistant"))
    return {
        "schemaVersion": SCHEMA_VERSION,
        "id": entry_id,
        "kind": kind.value,
        "title": " ".join(chance.choices(words, k=6)),
        "body": body,
        "tags": chance.sample(words, k=3),
        "timestamps": {"createdUtc": instant_text(at), "updatedUtc": instant_text(at)},
        "confidence": round(chance.uniform(0.5, 1.0), 2),
        "agentId": chance.choice(("claude-code", "cursor", "codex")),
    }


def _syllables(chance: random.Random) -> Iterator[str]:
    for _ in range(chance.randint(1, 4)):
        yield chance.choice(_CONSONANTS) + chance.choice(_VOWELS) + chance.choice("nrst ").strip()
