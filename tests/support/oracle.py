"""What must be there after a crash: every acknowledged operation, and none of them by half.

Each writer works on entries of its own and on its own slot of one shared entry, one operation
after the other. So at most one operation a writer is unanswered when the process dies, and what
is found must be the writer's state before it or after it. An operation follows from its writer
and number, so that a driver reports two numbers: `i <writer> <number>` before it asks, and
`a <writer> <number>` after it was answered.
"""

from random import Random

import msgspec

from tests.support.stores import SHARED, Changes, State, applied

KEYS_PER_WRITER = 8
BULK_KEYS = 4


class LostWriteError(AssertionError):
    """An acknowledged write is missing, or a change is half there."""


class Operation(msgspec.Struct, frozen=True):
    """What a writer asks for: a command, and the entries' texts after it."""

    verb: str
    changes: Changes


def operation(writer: int, number: int) -> Operation:
    """Return a writer's n-th operation."""
    random = Random(writer * 1_000_003 + number)
    text = f"{writer}.{number}"
    keys = random.sample([f"w{writer}-{key}" for key in range(KEYS_PER_WRITER)], BULK_KEYS)
    match random.choices(["upsert", "patch", "delete", "bulk", "share"], [4, 3, 2, 2, 3])[0]:
        case "delete":
            return Operation("deleteEntry", {keys[0]: None})
        case "bulk":
            return Operation("bulkImport", dict.fromkeys(keys, text))
        case "share":
            return Operation("patchEntry", {f"{SHARED}/w{writer}": text})
        case "patch":
            return Operation("patchEntry", {keys[0]: text})
        case _:
            return Operation("upsertEntry", {keys[0]: text})


def owner_of(key: str) -> int:
    """Return the writer that a key of a state belongs to."""
    local, _, slot = key.partition("/")
    return int((slot or local).partition("-")[0].removeprefix("w"))


class Oracle:
    """Remembers every acknowledgement and judges what is found after a crash."""

    def __init__(self, writers: int) -> None:
        self.states: list[State] = [{} for _ in range(writers)]
        self.next_numbers = [0] * writers
        self.acknowledged = 0
        self.deleted: set[str] = set()
        self._unanswered: list[int | None] = [None] * writers

    def hear(self, line: str) -> None:
        """Take note of what a driver reports."""
        kind, writer, number = line[0], *map(int, line[1:].split())
        self.next_numbers[writer] = number + 1
        if kind == "i":
            self._unanswered[writer] = number
            return
        self._unanswered[writer] = None
        self.acknowledged += 1
        before = self.states[writer]
        changes = operation(writer, number).changes
        self.deleted |= {before[key] for key, text in changes.items() if not text and key in before}
        self.states[writer] = applied(before, changes)

    def judge(self, found: State) -> None:
        """Check a state found after a crash, and go on from it.

        Raises:
            LostWriteError: something acknowledged is missing, or half of a change is there.
        """
        seen: list[State] = [{} for _ in self.states]
        for key, text in found.items():
            seen[owner_of(key)][key] = text
        for writer, before in enumerate(self.states):
            number = self._unanswered[writer]
            changes = operation(writer, number).changes if number is not None else {}
            if seen[writer] not in (before, applied(before, changes)):
                raise LostWriteError(
                    f"writer {writer}: found {seen[writer]} where {before} was acknowledged"
                    f" and {changes} not answered"
                )
        self.states = seen
        self._unanswered = [None] * len(self.states)
