"""Snapshots of an open store for backups: entries, archive, and change sets since the last one."""

from pathlib import Path

import msgspec

from qms.disk.append_log import LogMark
from qms.disk.line_checksum import unsealed
from qms.store.change_log import Logged
from qms.store.file_image import Image
from qms.store.file_state import StoreFiles
from qms.store.fold import archive_lines
from qms.store.journal import JournalRecord
from qms.store.render import render
from qms.store.view import StoreView


class StoreSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """An immutable snapshot of a store for a backup."""

    view: StoreView
    lineage: str
    image: Image | None
    """The file as a fold would write it now, including lines that are no entries."""
    file: Path | None
    """The file itself, if it equalled the image at that moment: its hash is the image's."""
    logged: list[Logged]
    """The known change sets since the last backup."""
    archive: bytes
    archive_is_whole: bool
    archive_mark: LogMark


class Snapshots:
    """Takes snapshots of an open store."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def moment(self, *, whole: bool, archive_since: LogMark | None) -> StoreSnapshot:
        """Return a snapshot; the archive only after a mark, if that is possible.

        Raises:
            OSError: a file of the store cannot be read.
        """
        files = self._files
        with files.lock:
            with files.writer.lock:
                view, pending = files.writer.view, dict(files.writer.pending)
                uncut = list(files.writer.uncut)
            is_folded = not pending and files.entries.identity() == files.image.identity
            lineage = files.changes.lineage(view.sequence - len(uncut))
            logged = self._logged(uncut)
            tail = files.archive.since(archive_since) if archive_since else None
            waiting = b"".join(line + b"\n" for line in archive_lines(uncut))
            return StoreSnapshot(
                view=view,
                lineage=lineage,
                image=_next_image(files.image, view, pending) if whole else None,
                file=files.entries.path if is_folded and files.image.digest else None,
                logged=logged,
                archive=(b"\n".join([*files.archive.lines(), waiting]) if tail is None else tail),
                archive_is_whole=tail is None,
                archive_mark=files.archive.mark(),
            )

    def forget(self, sequence: int) -> None:
        """Cut the change sets that a backup holds.

        Raises:
            OSError: nothing was cut; the next backup does it.
        """
        with self._files.lock:
            self._files.changes.cut(sequence)

    def present(self) -> StoreSnapshot:
        """Return a snapshot without image and archive."""
        with self._files.lock:
            return self.moment(whole=False, archive_since=self._files.archive.mark())

    def logged(self) -> list[Logged]:
        """Return the readable change sets since the last backup."""
        with self._files.lock:
            with self._files.writer.lock:
                uncut = list(self._files.writer.uncut)
            return self._logged(uncut)

    def _logged(self, uncut: list[JournalRecord]) -> list[Logged]:
        logged = self._files.changes.records()
        last = logged[-1].sequence if logged else 0
        return logged + [
            Logged(one.sequence, one.change_set) for one in uncut if one.sequence > last
        ]

    def add_to_archive(self, lines: list[bytes]) -> int:
        """Add the lines that the archive lacks; return how many.

        Raises:
            OSError: none of them is added.
        """
        with self._files.lock:
            known = set(map(unsealed, self._files.archive.lines()))
            missing = [line for line in dict.fromkeys(lines) if unsealed(line) not in known]
            if missing:
                self._files.archive.extend(missing)
            return len(missing)


def _next_image(image: Image, view: StoreView, pending: dict[str, None]) -> Image:
    """Return what a fold would write; without pending entries, a copy of the image."""
    if pending:
        return render(image, view, pending)
    return msgspec.structs.replace(image, ids=list(image.ids), raws=list(image.raws))
