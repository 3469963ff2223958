"""Which program wrote an export, told by the names of its files and the beginning of the first."""

import re
from pathlib import Path

from qms.domain.errors import invalid
from qms.ingest.exports import open_export
from qms.ingest.importers.formats import FORMATS, ImportFormat

_BY_NAME = (ImportFormat.MARKDOWN, ImportFormat.CSV, ImportFormat.JSONL, ImportFormat.JSON)
"""No file's name fits two of these; those of other programs begin in a way of their own."""

_ANY = re.compile("|".join(FORMATS[form].files.pattern for form in _BY_NAME), re.IGNORECASE)
_ENTITY_LINE = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:entity|relation)"')
_AI_MEMORIES = re.compile(
    rb'\s*\{(?:\s*"(?:count|exported_at)"[^,{[]*,)*\s*"(?:memories|links)"\s*:'
)
_MARK = b"\xef\xbb\xbf"


def guess_format(path: Path) -> ImportFormat:
    """Return the format of an export.

    Raises:
        NotFoundError: nothing is there.
        InvalidInputError: it could be several, or none.
    """
    with open_export(path, _ANY) as export:
        formats = {_by_name(member.name) for member in export.members}
        beginning = next(export.chunks(export.members[0]), b"").removeprefix(_MARK)
    if len(formats) > 1:
        raise invalid("format", f"{path} holds files of several kinds: say which are meant")
    (form,) = formats
    if form is None:
        raise invalid("format", f"the name of {path} does not tell what wrote it: say so")
    return _by_content(form, beginning)


def _by_name(name: str) -> ImportFormat | None:
    return next((form for form in _BY_NAME if FORMATS[form].files.fullmatch(name)), None)


def _by_content(form: ImportFormat, beginning: bytes) -> ImportFormat:
    if form in (ImportFormat.JSON, ImportFormat.JSONL) and _ENTITY_LINE.match(beginning):
        return ImportFormat.SERVER_MEMORY
    if form is ImportFormat.JSON and _AI_MEMORIES.match(beginning):
        return ImportFormat.AI_MEMORY
    return form
