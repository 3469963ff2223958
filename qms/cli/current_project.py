"""Guesses the current project from the git remote, else from the folder name."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

DEFAULT_PROJECT = "default"

_SECTION = re.compile(r'\s*+\[(?:\s*+remote\s++"(?P<remote>[^"]++)"\s*+\]|[^\]]*+\])')
_URL = re.compile(r'\s*url\s*=\s*"?(?P<url>[^"\s]+)')
_SEPARATORS = re.compile(r"[/:\\]")


def guess_project(folder: Path, projects: Iterable[str]) -> str:
    """Return the project named like the git remote or the folder, else `default`."""
    known = {slug.casefold(): slug for slug in projects}
    for name in names_of(folder):
        if (slug := known.get(name.casefold())) is not None:
            return slug
    return DEFAULT_PROJECT


def names_of(folder: Path) -> list[str]:
    """Return candidate project names for a folder, best first."""
    for candidate in (folder, *folder.parents):
        mark = candidate / ".git"
        if mark.exists():
            return [*_remote_names(_git_folder(mark)), candidate.name]
    return [folder.name]


def _git_folder(mark: Path) -> Path:
    """Return the folder with the git configuration; for a worktree, that of its repository."""
    if mark.is_dir():
        return mark
    pointer = _read(mark).removeprefix("gitdir:").strip()
    git_folder = mark.parent / pointer
    common = _read(git_folder / "commondir").strip()
    return git_folder / common if common else git_folder


def _remote_names(git_folder: Path) -> list[str]:
    urls = dict(_remotes(_read(git_folder / "config")))
    first = sorted(urls, key=lambda remote: remote != "origin")
    return [name for remote in first if (name := _last_part(urls[remote]))]


def _remotes(text: str) -> Iterator[tuple[str, str]]:
    remote = None
    for line in text.splitlines():
        if section := _SECTION.match(line):
            remote = section["remote"]
        elif remote is not None and (found := _URL.match(line)):
            yield remote, found["url"]


def _last_part(url: str) -> str:
    return _SEPARATORS.split(url.rstrip("/\\"))[-1].removesuffix(".git")


def _read(path: Path) -> str:
    with suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace")
    return ""
