"""Mending a line that is no entry: its text is corrected in its place, or taken out.

Nothing of it is lost: what stood there is kept beside the store, a good text is in the journal
before the file is written, and a file that somebody saved meanwhile is looked at first.
"""

import hashlib
from collections.abc import Callable

import msgspec

from qms.codec.hand_lines import BadLine, GoodLine, bare
from qms.domain.errors import ConflictError, StorageFullError, invalid
from qms.files.append_log import AppendLog
from qms.store.draft import Draft
from qms.store.file_side import FileSide
from qms.store.fold import fold
from qms.store.image import Image, LineProblem
from qms.store.options import FoldOutcome, Origin
from qms.store.reload import reload
from qms.store.suspects import suspects_in
from qms.store.view import Record

KEPT_LINES = "kept-lines.jsonl"
"""Where the texts go that were corrected or taken out; erasing finds them there."""

_ATTEMPTS = 5
_VERSION_DIGITS = 16


class SeenLine(msgspec.Struct, frozen=True):
    """A line that is no entry, as it was last seen; lines count from 1."""

    number: int
    reason: str
    raw: bytes
    version: str
    """What a correction names, so that it meets the text that its author saw."""


class Mender:
    """What corrects the bad lines of one store."""

    def __init__(self, side: FileSide) -> None:
        self._side = side

    def find(self, number: int) -> SeenLine | None:
        """Return the bad line of this number, or None when there is none."""
        image = self._side.image
        for problem in image.problems:
            if problem.index == number - 1:
                raw = image.raws[problem.index]
                return SeenLine(number, problem.reason, bare(raw), _version(raw))
        return None

    def correct(
        self, number: int, version: str, text: bytes, origin: Origin, local_id: Callable[[], str]
    ) -> Record:
        """Put an entry in the place of a bad line and return it.

        Raises:
            InvalidInputError: the text is no entry either.
            ConflictError: the line is not the one that was seen, or the id is another entry's.
            StorageFullError: the disk does not take writes now.
        """
        side = self._side
        with side.lock:
            problem = self._seen(number, version)
            good = self._read(text, local_id)
            entry_id, kept = good.header.id, side.image.kept

            def plan(draft: Draft) -> Record:
                living = draft.get(entry_id)
                if living is not None and living.line != kept.get(entry_id):
                    raise ConflictError(
                        f"there is an entry {entry_id} already: give the line another id,"
                        " or take it out",
                        id=entry_id,
                    )
                return draft.put_line(good.line)

            self._keep(problem)
            record = side.writer.commit(origin, plan)
            side.suspects = side.suspects | suspects_in([record])
            self._write(problem, version, entry_id)
            return record

    def take_out(self, number: int, version: str) -> None:
        """Take a bad line out of the file; its text is kept beside the store.

        Raises:
            ConflictError: the line is not the one that was seen.
            StorageFullError: the disk does not take writes now.
        """
        with self._side.lock:
            problem = self._seen(number, version)
            self._keep(problem)
            self._write(problem, version, None)

    def _seen(self, number: int, version: str) -> LineProblem:
        """Return the line that was seen, where it stands now."""
        side = self._side
        reload(side)
        if side.held is not None:
            raise ConflictError(f"{side.project} has a deletion to decide about: do that first")
        same = _places(side.image, version)
        if not same:
            raise ConflictError(f"line {number} is no longer what you saw: look again")
        return next((one for one in same if one.index == number - 1), same[0])

    def _read(self, text: bytes, local_id: Callable[[], str]) -> GoodLine:
        # Outside of strings, which hold none, a line end means as little to JSON as a blank.
        line = bare(text.replace(b"\r", b" ").replace(b"\n", b" "))
        match self._side.reader(None).read(line, local_id):
            case GoodLine(newer=False) as good:
                return good
            case BadLine(reason=reason):
                raise invalid("text", f"is no entry: {reason}")
            case _:
                raise invalid("text", "has a schemaVersion that this server does not know")

    def _keep(self, problem: LineProblem) -> None:
        side = self._side
        kept = AppendLog(side.disk, side.own_folder / KEPT_LINES)
        try:
            kept.extend([side.image.raws[problem.index]])
        except OSError as error:
            raise StorageFullError(
                f"the text of the line cannot be kept now: {error.strerror or error};"
                " try again later",
                project=side.project,
            ) from error

    def _write(self, problem: LineProblem, version: str, entry_id: str | None) -> None:
        """Fold the file with the entry, or nothing, in the place of the bad line."""
        side = self._side
        found: LineProblem | None = problem
        for _ in range(_ATTEMPTS):
            before = side.image
            if found is not None:
                side.image = _replaced(before, found.index, entry_id)
            tried = side.image
            side.needs_base = True
            if fold(side) is FoldOutcome.FOLDED:
                return
            if side.image is tried:
                side.image = before
            reload(side)
            found = next(iter(_places(side.image, version)), None)
        raise ConflictError(
            f"entries.jsonl of {side.project} cannot be written now: the line stays for the"
            f" moment{', and the entry stands below it' if entry_id else ''}"
        )


def _places(image: Image, version: str) -> list[LineProblem]:
    return [one for one in image.problems if _version(image.raws[one.index]) == version]


def _version(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:_VERSION_DIGITS]


def _replaced(image: Image, index: int, entry_id: str | None) -> Image:
    """Return the image with an entry, or nothing, where a bad line stood."""
    ids, raws = list(image.ids), list(image.raws)
    problems = [one for one in image.problems if one.index != index]
    kept = {one: line for one, line in image.kept.items() if one != entry_id}
    if entry_id is not None:
        ids[index] = entry_id
    else:
        del ids[index], raws[index]
        problems = [one.moved_by(-1) if one.index > index else one for one in problems]
    return Image(ids=ids, raws=raws, problems=problems, kept=kept, identity=image.identity)
