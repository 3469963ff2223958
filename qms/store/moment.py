"""A moment of an open store, as a backup takes it: entries, archive, and what led there."""

from pathlib import Path

import msgspec

from qms.files.append_log import LogMark
from qms.files.change_log import Logged
from qms.store.file_side import FileSide
from qms.store.fold import archive_lines
from qms.store.image import Image
from qms.store.render import render
from qms.store.view import StoreView


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup is made of; nothing in it changes any more."""

    view: StoreView
    lineage: str
    image: Image | None
    """The file as a fold would write it now, with the lines that are no entries."""
    file: Path | None
    """The file itself, when it was the image in that moment: its hash is the image's."""
    logged: list[Logged]
    """The change sets since the last backup, as far as they are known."""
    archive: bytes
    archive_is_whole: bool
    archive_mark: LogMark


class Keepsake:
    """What an open store gives to backups."""

    def __init__(self, side: FileSide) -> None:
        self._side = side

    def moment(self, *, whole: bool, archive_since: LogMark | None) -> Moment:
        """Return the present moment; the archive only from a mark on, where that is possible.

        Raises:
            OSError: a file of the store cannot be read.
        """
        side = self._side
        with side.lock:
            with side.writer.lock:
                view, pending = side.writer.view, dict(side.writer.pending)
                uncut = list(side.writer.uncut)
            is_folded = not pending and side.entries.identity() == side.image.identity
            lineage = side.changes.lineage(view.sequence - len(uncut))
            logged = side.changes.records()
            last = logged[-1].sequence if logged else 0
            logged += [Logged(one.sequence, one.change_set) for one in uncut if one.sequence > last]
            tail = side.archive.since(archive_since) if archive_since else None
            waiting = b"".join(line + b"\n" for line in archive_lines(uncut))
            return Moment(
                view=view,
                lineage=lineage,
                image=_next_image(side.image, view, pending) if whole else None,
                file=side.entries.path if is_folded and side.image.digest else None,
                logged=logged,
                archive=(b"\n".join([*side.archive.lines(), waiting]) if tail is None else tail),
                archive_is_whole=tail is None,
                archive_mark=side.archive.mark(),
            )

    def forget(self, sequence: int) -> None:
        """Cut what a backup has taken over.

        Raises:
            OSError: it is all still there, and is cut by the next one.
        """
        with self._side.lock:
            self._side.changes.cut(sequence)

    def present(self) -> Moment:
        """Return the present moment without what only a backup needs of it."""
        with self._side.lock:
            return self.moment(whole=False, archive_since=self._side.archive.mark())

    def add_to_archive(self, lines: list[bytes]) -> int:
        """Add the lines that the archive lacks; return how many.

        Raises:
            OSError: none of them is added.
        """
        with self._side.lock:
            known = set(self._side.archive.lines())
            missing = [line for line in dict.fromkeys(lines) if line not in known]
            if missing:
                self._side.archive.extend(missing)
            return len(missing)


def _next_image(image: Image, view: StoreView, pending: dict[str, None]) -> Image:
    """Return what a fold would write; where nothing waits that is what is there."""
    if pending:
        return render(image, view, pending)
    return msgspec.structs.replace(image, ids=list(image.ids), raws=list(image.raws))
