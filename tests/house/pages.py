"""Reading the repository's own pages: code blocks, tables, links, tracked files."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_BLOCK = re.compile(r"^```[a-z ]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)[^)]*\)")


def read(name: str) -> str:
    """Return the text of a file, named from the repository's top."""
    return (ROOT / name).read_text(encoding="utf-8")


def code_blocks(page: str) -> list[str]:
    """Return what stands between the fences of a page."""
    return _BLOCK.findall(page)


def table_rows(page: str) -> list[list[str]]:
    """Return the cells of every table row that is neither heading nor rule."""
    lines = page.split("\n")
    return [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for index, line in enumerate(lines)
        if line.startswith("|")
        and not line.startswith("| ---")
        and not lines[index + 1].startswith("| ---")
    ]


def links(page: str) -> list[str]:
    """Return the relative targets that a page links to."""
    return _LINK.findall(page)


def tracked_files() -> list[Path]:
    """Return the files that git knows, and the new ones that it does not ignore."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    paths = [ROOT / name.decode() for name in names if name]
    return [path for path in paths if path.is_file()]


def modules(*folders: str) -> list[Path]:
    """Return every Python file below the folders, named from the repository's top."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]
