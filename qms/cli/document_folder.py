"""What a sync of a folder with the documents of a project has to do."""

import hashlib
import os
from pathlib import Path

import msgspec

SUFFIXES = frozenset({
    ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".json", ".jsonl", ".csv", ".tsv",
    ".txt", ".text", ".log", ".rst", ".adoc", ".pdf", ".docx", ".docm", ".pptx", ".pptm", ".xlsx",
    ".xlsm", ".epub",
})  # fmt: skip
"""The endings of the files that a sync takes."""


class Plan(msgspec.Struct, frozen=True):
    """Paths of new and changed files, ids of documents whose file is gone."""

    new: list[str]
    changed: list[str]
    gone: list[str]
    unchanged: int


def document_id(folder: str, path: str) -> str:
    """Return the local id of the document of a file, which follows from its path."""
    return f"doc-{hashlib.sha256(f'file {folder}/{path}'.encode()).hexdigest()[:24]}"


def files_below(folder: Path) -> dict[str, str]:
    """Return the sha256 of every file below a folder, by its path in it; links are left out."""
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if path.suffix.lower() in SUFFIXES and path.is_file() and not path.is_symlink():
                with path.open("rb") as opened:
                    digest = hashlib.file_digest(opened, "sha256").hexdigest()
                found[path.relative_to(folder).as_posix()] = digest
    return found


def plan_sync(files: dict[str, str], stored: dict[str, tuple[str, str]]) -> Plan:
    """Compare the files of a folder with the documents that came from it."""
    new = [path for path in files if path not in stored]
    changed = [path for path in files if path in stored and stored[path][1] != files[path]]
    gone = [entry_id for path, (entry_id, _) in stored.items() if path not in files]
    return Plan(new, changed, gone, len(files) - len(new) - len(changed))
