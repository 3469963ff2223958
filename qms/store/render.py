"""Renders a fold: the next image of the file from the last image and the pending entries."""

from collections.abc import Iterable, Iterator

from qms.memory.hand_lines import bare
from qms.store.file_image import Image, LineProblem
from qms.store.view import StoreView

_LINES_PER_CHUNK = 1500


def render(
    image: Image,
    view: StoreView,
    pending: Iterable[str],
    replaced: dict[str, bytes] | None = None,
) -> Image:
    """Return the next image: untouched lines unchanged, new entries last.

    `replaced` receives the lines that the pending entries have in the file now.
    """
    before = {} if replaced is None else replaced
    before.update(image.kept)
    waiting = dict.fromkeys(pending)
    ids: list[str | None] = []
    raws: list[bytes] = []
    shifts: dict[int, int] = {}
    for index, (entry_id, raw) in enumerate(zip(image.ids, image.raws, strict=True)):
        if entry_id is None:
            shifts[index] = len(ids)
        elif entry_id in waiting:
            del waiting[entry_id]
            before[entry_id] = bare(raw)
            record = view.get(entry_id)
            if record is None:
                continue
            ids.append(entry_id)
            raws.append(record.line)
            continue
        ids.append(entry_id)
        raws.append(raw)
    kept = dict(image.kept)
    for entry_id in waiting:
        kept.pop(entry_id, None)
        record = view.get(entry_id)
        if record is not None:
            ids.append(entry_id)
            raws.append(record.line)
    return Image(ids=ids, raws=raws, kept=kept, problems=_moved(image, shifts))


def chunks(image: Image) -> Iterator[bytes]:
    """Yield the bytes of the file, a few thousand lines at a time."""
    for start in range(0, len(image.raws), _LINES_PER_CHUNK):
        yield b"\n".join(image.raws[start : start + _LINES_PER_CHUNK]) + b"\n"


def _moved(image: Image, shifts: dict[int, int]) -> list[LineProblem]:
    return [
        LineProblem(shifts[one.index], one.code, one.reason, one.entry_id)
        for one in image.problems
        if one.index in shifts
    ]
