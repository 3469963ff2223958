"""Speed and RAM of mining large conversation exports."""

import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil

from qms.features.mining.conversation import Conversation
from qms.features.mining.memories import Provenance, entry_of, find_memories
from qms.features.mining.mining_formats import read_export
from tools.benchmarks.measure import Bound, Row, spend

BOUNDS = {
    "read": Bound("≥", 50, "MB/s"),
    "rules": Bound("≥", 10, "MB/s"),
    "memory": Bound("≤", 64, "MB"),
}
SEED = 5
DISTINCT = 300
"""The number of distinct conversations; the file repeats them under other ids."""

_MEGABYTE = 1_000_000
_WORDS = re.findall(
    r"\S+",
    "service request index memory writer reader deploy cluster branch commit database cache token "
    "session latency worker queue search entry vector filter field value client answer error "
    'reason change version project setting folder "name" path\\to it is there and then with for '
    "from this that which where about because after before",
)
_CUES = (
    "We decided to keep the old index because it is faster.",
    "I prefer small commits with one thought each.",
    "Our build server runs on the third machine.",
    "Please always add a test before the fix.",
)


class Measured(msgspec.Struct, frozen=True):
    """The results of a separate process."""

    read_s: float
    rules_s: float
    memories: int
    grown_mb: float


def mining_rows(folder: Path, sizes: dict[str, int]) -> Iterator[Row]:
    """Yield the figures of every format; sizes are in megabytes."""
    for form, megabytes in sizes.items():
        path = folder / f"conversations-{form}.json"
        size = _make(path, form, megabytes * _MEGABYTE)
        found = _measured(path, form)
        path.unlink()
        speeds = {"read": size / found.read_s, "rules": size / found.rules_s}
        for name, speed in speeds.items():
            label = "framed and decoded" if name == "read" else "with rules"
            yield _row(f"{form}, {label}", found.memories, speed / _MEGABYTE, BOUNDS[name])
        yield _row(f"{form}, RAM above idle", found.memories, found.grown_mb, BOUNDS["memory"])


def _row(subject: str, count: int, value: float, bound: Bound) -> Row:
    return Row(
        subject=subject,
        entries=count,
        figure=f"{value:.0f} {bound.unit}",
        bound=str(bound),
        verdict=bound.judge(value),
    )


def _measured(path: Path, form: str) -> Measured:
    """Run the work in a separate process, so that nothing else is in its RAM."""
    command = [sys.executable, "-m", "tools.benchmarks.mining", str(path), form]
    done = subprocess.run(command, capture_output=True, check=True)
    return msgspec.json.decode(done.stdout, type=Measured)


def _make(path: Path, form: str, size: int) -> int:
    """Write an export of at least this size and return its size."""
    chance = random.Random(SEED)
    makers: dict[str, Callable[[random.Random], Any]] = {
        "claude": _claude,
        "chatgpt": _chatgpt,
    }
    texts = [json.dumps(makers[form](chance)) for _ in range(DISTINCT)]
    written = 0
    with path.open("w", encoding="utf-8") as stream:
        while written < size:
            text = texts[written % DISTINCT].replace("CONVERSATION", f"c{written:012}", 1)
            written += stream.write(("[" if not written else ",\n") + text)
        written += stream.write("]")
    return written


def _prose(chance: random.Random, words: int) -> str:
    said = " ".join(chance.choices(_WORDS, k=words))
    return said.replace(" and ", ".\nAnd ")


def _said(chance: random.Random, *, is_person: bool) -> str:
    if is_person:
        cue = f" {chance.choice(_CUES)} " if chance.random() < 0.2 else " "
        return _prose(chance, 30) + "." + cue + _prose(chance, 20)
    text = _prose(chance, 180)
    if chance.random() < 0.3:
        body = "\n".join(f'    value_{n} = call("{n}", {{}})' for n in range(25))
        text += f"\n\n```python\ndef work_{chance.randrange(99)}(x):\n{body}\n```\n"
    return text


def _claude(chance: random.Random) -> dict[str, Any]:
    at = "2025-03-04T09:00:00.123456Z"
    turns = []
    for number in range(20):
        text = _said(chance, is_person=number % 2 == 0)
        turns.append(
            {
                "uuid": f"{chance.getrandbits(128):032x}",
                "text": text,
                "content": [{"type": "text", "text": text, "citations": []}],
                "sender": "assistant" if number % 2 else "human",
                "created_at": at,
                "updated_at": at,
                "attachments": [],
                "files": [],
            }
        )
    return {"uuid": "CONVERSATION", "name": "Work", "created_at": at, "chat_messages": turns}


def _chatgpt(chance: random.Random) -> dict[str, Any]:
    mapping = {}
    for number in range(20):
        text = _said(chance, is_person=number % 2 == 0)
        mapping[f"n{number}"] = {
            "id": f"n{number}",
            "message": {
                "id": f"n{number}",
                "author": {"role": "assistant" if number % 2 else "user", "metadata": {}},
                "create_time": 1741079400.25,
                "content": {"content_type": "text", "parts": [text]},
                "status": "finished_successfully",
                "metadata": {"citations": [], "timestamp_": "absolute"},
                "recipient": "all",
            },
            "parent": f"n{number - 1}" if number else None,
            "children": [f"n{number + 1}"],
        }
    return {
        "title": "Work",
        "mapping": mapping,
        "current_node": "n19",
        "conversation_id": "CONVERSATION",
    }


def _read(path: Path, form: str) -> int:
    with read_export(path, form) as (_, found):
        return sum(len(one.messages) for one in found if isinstance(one, Conversation))


def _mine(path: Path, form: str) -> int:
    provenance = Provenance(format=form)
    known: set[str] = set()
    with read_export(path, form) as (_, found):
        for one in found:
            assert isinstance(one, Conversation), one
            known.update(entry_of(memory, one, provenance)["id"] for memory in find_memories(one))
    return len(known)


def main(path: Path, form: str) -> None:
    """Measure one export and print the results as JSON."""
    process = psutil.Process()
    idle = process.memory_info().rss
    counts: list[int] = []
    read = spend(lambda: _read(path, form))
    rules = spend(lambda: counts.append(_mine(path, form)))
    grown = _peak_bytes() - idle
    print(
        msgspec.json.encode(
            Measured(read.cpu_s, rules.cpu_s, counts[0], grown / _MEGABYTE)
        ).decode()
    )


def _peak_bytes() -> int:
    # `getrusage` would return the peak of the parent process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
