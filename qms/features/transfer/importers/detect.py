"""Detects the format of an export by its file names and the beginning of the first file."""

import re
from pathlib import Path

from qms.disk.export_files import open_export
from qms.features.transfer.importers.import_formats import FORMATS, ImportFormat
from qms.memory.errors import invalid

_BY_NAME = (ImportFormat.MARKDOWN, ImportFormat.CSV, ImportFormat.JSONL, ImportFormat.JSON)
"""No file name matches two of these; the other formats are detected by their content."""

_ANY = re.compile("|".join(FORMATS[form].files.pattern for form in _BY_NAME), re.IGNORECASE)
_ENTITY_LINE = re.compile(rb'\s*\{\s*"type"\s*:\s*"(?:entity|relation)"')
_AI_MEMORIES = re.compile(
    rb'\s*\{(?:\s*"(?:count|exported_at)"[^,{[]*,)*\s*"(?:memories|links)"\s*:'
)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def guess_format(path: Path) -> ImportFormat:
    """Return the format of an export.

    Raises:
        NotFoundError: there is no file at the path.
        InvalidInputError: the files have several formats, or an unknown one.
    """
    with open_export(path, _ANY) as export:
        formats = {_by_name(member.name) for member in export.members}
        beginning = next(export.chunks(export.members[0]), b"").removeprefix(_BYTE_ORDER_MARK)
    if len(formats) > 1:
        raise invalid("format", f"{path} holds files of several formats: name one")
    (form,) = formats
    if form is None:
        raise invalid("format", f"cannot be detected from the name of {path}: name one")
    return _by_content(form, beginning)


def _by_name(name: str) -> ImportFormat | None:
    return next((form for form in _BY_NAME if FORMATS[form].files.fullmatch(name)), None)


def _by_content(form: ImportFormat, beginning: bytes) -> ImportFormat:
    if form in (ImportFormat.JSON, ImportFormat.JSONL) and _ENTITY_LINE.match(beginning):
        return ImportFormat.SERVER_MEMORY
    if form is ImportFormat.JSON and _AI_MEMORIES.match(beginning):
        return ImportFormat.AI_MEMORY
    return form
