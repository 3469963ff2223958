"""Repairs a line that is no entry: corrects it in place, or removes it.

Nothing is lost: the old text is kept beside the store, the corrected entry is in the journal before
the file is written, and a file that was saved in between is read first.
"""

import hashlib
from collections.abc import Callable

import msgspec

from qms.disk.append_log import AppendLog
from qms.memory.errors import ConflictError, StorageFullError, invalid
from qms.memory.hand_lines import BadLine, GoodLine, bare
from qms.store.draft import Draft
from qms.store.file_image import Image, LineProblem
from qms.store.file_state import StoreFiles
from qms.store.fold import fold
from qms.store.options import FoldOutcome, Origin
from qms.store.reload import log_bad_lines, reload
from qms.store.secret_lines import suspects_in
from qms.store.view import Record

KEPT_LINES = "kept-lines.jsonl"
"""The file with the old text of repaired lines; erasure covers it."""

_ATTEMPTS = 5
_VERSION_DIGITS = 16


class SeenLine(msgspec.Struct, frozen=True):
    """A line that is no entry, as it was last read; lines count from 1."""

    number: int
    reason: str
    raw: bytes
    version: str
    """A hash of the text; a correction names it and applies to that text only."""


class LineRepair:
    """Repairs the bad lines of one store."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def find(self, number: int) -> SeenLine | None:
        """Return the bad line of this number, or None when there is none."""
        image = self._files.image
        for problem in image.problems:
            if problem.index == number - 1:
                raw = image.raws[problem.index]
                return SeenLine(number, problem.reason, bare(raw), _version(raw))
        return None

    def correct(
        self, number: int, version: str, text: bytes, origin: Origin, local_id: Callable[[], str]
    ) -> Record:
        """Replace a bad line by an entry and return it.

        Raises:
            InvalidInputError: the text is no entry either.
            ConflictError: the line has changed, or another entry has the id.
            StorageFullError: the disk does not accept writes now.
        """
        files = self._files
        with files.lock:
            problem = self._seen(number, version)
            good = self._read(text, local_id)
            entry_id, kept = good.header.id, files.image.kept

            def plan(draft: Draft) -> Record:
                living = draft.get(entry_id)
                if living is not None and living.line != kept.get(entry_id):
                    raise ConflictError(
                        f"there is already an entry {entry_id}: give the line another id,"
                        " or remove it",
                        id=entry_id,
                    )
                return draft.put_line(good.line)

            self._keep(problem)
            record = files.writer.commit(origin, plan)
            files.secret_lines = files.secret_lines | suspects_in([record])
            self._write(problem, version, entry_id)
            return record

    def take_out(self, number: int, version: str) -> None:
        """Remove a bad line from the file; its text is kept beside the store.

        Raises:
            ConflictError: the line has changed.
            StorageFullError: the disk does not accept writes now.
        """
        with self._files.lock:
            problem = self._seen(number, version)
            self._keep(problem)
            self._write(problem, version, None)

    def _seen(self, number: int, version: str) -> LineProblem:
        """Return the line with this version, where it is now."""
        files = self._files
        reload(files)
        if files.held is not None:
            raise ConflictError(f"{files.project} has a held edit: accept or reject it first")
        same = _places(files.image, version)
        if not same:
            raise ConflictError(f"line {number} has changed since you read it: reload it")
        return next((one for one in same if one.index == number - 1), same[0])

    def _read(self, text: bytes, local_id: Callable[[], str]) -> GoodLine:
        # JSON strings contain no raw line ends, and elsewhere a line end is white space.
        line = bare(text.replace(b"\r", b" ").replace(b"\n", b" "))
        match self._files.reader(None).read(line, local_id):
            case GoodLine(newer=False) as good:
                return good
            case BadLine(reason=reason):
                raise invalid("text", f"is not an entry: {reason}")
            case _:
                raise invalid("text", "has a schemaVersion that this server does not know")

    def _keep(self, problem: LineProblem) -> None:
        files = self._files
        kept = AppendLog(files.disk, files.own_folder / KEPT_LINES)
        try:
            kept.extend([files.image.raws[problem.index]])
        except OSError as error:
            raise StorageFullError(
                f"the text of the line cannot be saved now: {error.strerror or error};"
                " try again later",
                project=files.project,
            ) from error

    def _write(self, problem: LineProblem, version: str, entry_id: str | None) -> None:
        """Fold the file with the entry, or nothing, in place of the bad line."""
        files = self._files
        found: LineProblem | None = problem
        for _ in range(_ATTEMPTS):
            before = files.image
            if found is not None:
                files.image = _replaced(before, found.index, entry_id)
            tried = files.image
            files.needs_base = True
            if fold(files) is FoldOutcome.FOLDED:
                log_bad_lines(files.project, before, files.image)
                return
            if files.image is tried:
                files.image = before
            reload(files)
            found = next(iter(_places(files.image, version)), None)
        raise ConflictError(
            f"entries.jsonl of {files.project} cannot be written now: the bad line is still there"
            f"{', and the entry was stored as a new line' if entry_id else ''}; try again later"
        )


def _places(image: Image, version: str) -> list[LineProblem]:
    return [one for one in image.problems if _version(image.raws[one.index]) == version]


def _version(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:_VERSION_DIGITS]


def _replaced(image: Image, index: int, entry_id: str | None) -> Image:
    """Return the image with an entry, or nothing, in place of a bad line."""
    ids, raws = list(image.ids), list(image.raws)
    problems = [one for one in image.problems if one.index != index]
    kept = {one: line for one, line in image.kept.items() if one != entry_id}
    if entry_id is not None:
        ids[index] = entry_id
    else:
        del ids[index], raws[index]
        problems = [one.moved_by(-1) if one.index > index else one for one in problems]
    return Image(ids=ids, raws=raws, problems=problems, kept=kept, identity=image.identity)
