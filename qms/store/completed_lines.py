"""Matches lines typed without id or times with the entries that the server made of them.

An editor may save such a line again as it was typed: it is still the same entry.
"""

from qms.memory.entry import Document
from qms.memory.hand_lines import bare
from qms.memory.lines import decode_line
from qms.store.file_image import FileReading, Image, split_lines
from qms.store.fold_log import Step


def completed_ids(image: Image, steps: list[Step], data: bytes) -> dict[str | None, list[str]]:
    """Return, by the mark of the typed line, the ids that lines without an id received.

    A file that has the completed line shows that its author saw it: the same text once more in that
    file is another entry.
    """
    lines, present = image.lines_by_id(), set(map(bare, split_lines(data)))
    found: dict[str | None, list[str]] = {}
    for step in steps:
        for entry_id, mark in step.before.items():
            if mark is not None and entry_id in lines and lines[entry_id] not in present:
                found.setdefault(mark, []).append(entry_id)
    return found


def only_completed(reading: FileReading, base: dict[str, bytes]) -> frozenset[str]:
    """Return the entries whose line is the one that the server completed, without any edit."""
    lines = reading.image.lines_of(reading.fresh)
    return frozenset(
        entry_id
        for entry_id, good in reading.fresh.items()
        if good.rewritten
        and entry_id in base
        and entry_id in lines
        and _is_completed(lines[entry_id], good.line, base[entry_id])
    )


def _is_completed(typed: bytes, completed: bytes, known: bytes) -> bool:
    """Say whether a line is the known one, or the known one before it was completed."""
    if typed == known or "timestamps" in decode_line(typed):
        return typed == known
    return _without_times(completed) == _without_times(known)


def _without_times(line: bytes) -> Document:
    return {key: value for key, value in decode_line(line).items() if key != "timestamps"}
