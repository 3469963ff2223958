"""Which format a file has, by its bytes first, then by what its sender says of it."""

from enum import StrEnum
from pathlib import PurePosixPath

import msgspec

from qms.memory.errors import invalid


class DocumentFormat(StrEnum):
    """A format that can be read, by its media type."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    JSON = "application/json"
    CSV = "text/csv"
    CODE = "text/x-source"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    EPUB = "application/epub+zip"


PLAIN = frozenset({
    DocumentFormat.TEXT, DocumentFormat.MARKDOWN, DocumentFormat.JSON, DocumentFormat.CSV,
    DocumentFormat.CODE, DocumentFormat.HTML,
})  # fmt: skip
"""Formats that are text in some encoding."""

_PACKAGES = (
    (b"word/document.xml", DocumentFormat.DOCX),
    (b"ppt/presentation.xml", DocumentFormat.PPTX),
    (b"xl/workbook.xml", DocumentFormat.XLSX),
    (b"META-INF/container.xml", DocumentFormat.EPUB),
)

_FOREIGN = (
    (b"\xd0\xcf\x11\xe0", "an Office file that is encrypted or older than 2007"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (image, sound or video)"),
    (b"{\\rtf", "an RTF file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"SQLite format 3", "a SQLite database"),
    (b"ID3", "a sound file"),
    (b"%!PS", "a PostScript file"),
)

_BY_SUFFIX = {
    ".md": DocumentFormat.MARKDOWN, ".markdown": DocumentFormat.MARKDOWN,
    ".mdx": DocumentFormat.MARKDOWN, ".html": DocumentFormat.HTML, ".htm": DocumentFormat.HTML,
    ".xhtml": DocumentFormat.HTML, ".json": DocumentFormat.JSON, ".jsonl": DocumentFormat.JSON,
    ".csv": DocumentFormat.CSV, ".tsv": DocumentFormat.CSV, ".txt": DocumentFormat.TEXT,
    ".text": DocumentFormat.TEXT, ".log": DocumentFormat.TEXT, ".rst": DocumentFormat.TEXT,
    ".adoc": DocumentFormat.TEXT, ".pdf": DocumentFormat.PDF, ".docx": DocumentFormat.DOCX,
    ".docm": DocumentFormat.DOCX, ".pptx": DocumentFormat.PPTX, ".pptm": DocumentFormat.PPTX,
    ".xlsx": DocumentFormat.XLSX, ".xlsm": DocumentFormat.XLSX, ".epub": DocumentFormat.EPUB,
}  # fmt: skip

CODE_SUFFIXES = frozenset({
    ".py", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".java", ".kt", ".c", ".h", ".cc", ".cpp",
    ".hpp", ".cs", ".go", ".rs", ".rb", ".php", ".swift", ".scala", ".sh", ".bash", ".zsh",
    ".ps1", ".bat", ".sql", ".r", ".jl", ".lua", ".pl", ".ex", ".exs", ".erl", ".hs", ".clj",
    ".ml", ".fs", ".vb", ".dart", ".css", ".scss", ".xml", ".yaml", ".yml", ".toml", ".ini",
    ".cfg", ".conf", ".properties", ".proto", ".graphql", ".tf", ".gradle", ".cmake", ".vue",
    ".svelte",
})  # fmt: skip

SUFFIXES = frozenset(_BY_SUFFIX) | CODE_SUFFIXES
"""The endings of file names whose format is known."""

_BY_MIME = {
    **{one.value: one for one in DocumentFormat},
    "text/x-markdown": DocumentFormat.MARKDOWN, "application/xhtml+xml": DocumentFormat.HTML,
    "text/tab-separated-values": DocumentFormat.CSV, "application/x-ndjson": DocumentFormat.JSON,
    "application/jsonl": DocumentFormat.JSON,
}  # fmt: skip
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEAD_BYTES = 1024


class FileToRead(msgspec.Struct, frozen=True):
    """The bytes of a file, and what its sender says of it."""

    data: bytes
    name: str | None = None
    mime: str | None = None


def format_of(file: FileToRead) -> DocumentFormat:
    """Return the format of a file.

    Raises:
        InvalidInputError: it is of a type that is not read, or not of the type it is said to be.
    """
    said = _said(file)
    found = _by_bytes(file.data)
    if found is not None:
        return found
    if said is not None and said not in PLAIN:
        raise invalid("mime", f"it is said to be {said.value}, but its bytes are not")
    return said or _by_text(file.data)


def _by_bytes(data: bytes) -> DocumentFormat | None:
    head = data[:_HEAD_BYTES]
    if b"%PDF-" in head:
        return DocumentFormat.PDF
    if head.startswith(b"PK\x03\x04"):
        return _package(data)
    for mark, what in _FOREIGN:
        if head.startswith(mark):
            raise invalid("data", f"this is {what}, which is not read")
    if head.startswith(b"PK"):
        raise invalid("data", "this is a ZIP archive that is empty or damaged, which is not read")
    return None


def _package(data: bytes) -> DocumentFormat:
    for name, found in _PACKAGES:
        if name in data:
            return found
    raise invalid("data", "this is a ZIP archive, but no DOCX, PPTX, XLSX or EPUB file")


def _said(file: FileToRead) -> DocumentFormat | None:
    mime = (file.mime or "").partition(";")[0].strip().lower()
    suffix = PurePosixPath(file.name or "").suffix.lower()
    if mime in _BY_MIME and mime != DocumentFormat.TEXT.value:
        return _BY_MIME[mime]
    if suffix in CODE_SUFFIXES:
        return DocumentFormat.CODE
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    if mime in _BY_MIME:
        return _BY_MIME[mime]
    if mime.startswith(("text/", "application/x-")) or mime.endswith(("+xml", "/xml", "script")):
        return DocumentFormat.CODE
    if mime and mime != "application/octet-stream":
        raise invalid("mime", f"{mime[:100]} is not a type that is read")
    return None


def _by_text(data: bytes) -> DocumentFormat:
    head = data[:_HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return DocumentFormat.HTML
    if head.startswith(b"#") or b"\n#" in data or b"\n```" in data:
        return DocumentFormat.MARKDOWN
    return DocumentFormat.TEXT


def has_wide_mark(data: bytes) -> bool:
    """Say whether a text begins with the mark of UTF-16."""
    return data.startswith(_WIDE_MARKS)
