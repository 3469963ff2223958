"""Checks and resolves the folders of the configuration: a relative path never leaves its base.

That holds for every file system: the same file is copied between Linux, macOS and Windows. Only an
absolute path that a person writes into the TOML file leads outside.
"""

import re
from pathlib import Path, PurePosixPath

from qms.memory.slugs import SLUG, is_slug

_EXTENDED = "\\\\?\\"
_EXTENDED_SHARE = _EXTENDED + "UNC\\"
_DRIVE = re.compile(r"[A-Za-z]:")
_UNPORTABLE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


def is_absolute(text: str) -> bool:
    """Say whether `text` is an absolute path on this system."""
    return "\0" not in text and Path(text).is_absolute()


def path_flaw(text: str, *, confined: bool) -> str | None:
    """Return why `text` may not name a folder, or None; `confined` refuses absolute ones too."""
    if not confined and is_absolute(text):
        return None
    if text.startswith(("/", "\\")) or _DRIVE.match(text):
        if confined:
            return "must be a relative path: an absolute path can be set only in the TOML file"
        return "is not an absolute path of this system"
    if _UNPORTABLE.search(text):
        return 'may not contain control characters or any of \\ : * ? " < > | (join folders with /)'
    parts = PurePosixPath(text).parts
    if ".." in parts:
        return "may not leave its folder with '..': write an absolute path by hand instead"
    if any(_is_device_name(part) or part[-1] in ". " for part in parts):
        return "has a part that Windows cannot store: a device name, or a dot or space at its end"
    return None


def resolve_inside(base: Path, text: str) -> Path | None:
    """Return `base / text` with symbolic links followed, or None when they lead out of `base`."""
    inside = resolved(base)
    target = resolved(inside / text)
    return target if target.is_relative_to(inside) else None


def resolved(path: Path) -> Path:
    r"""Return a path with symbolic links followed, without the prefix `\\?\`."""
    return Path(usual_form(str(path.resolve())))


def usual_form(text: str) -> str:
    r"""Return a Windows path without the prefix `\\?\`.

    Python leaves the prefix when the file system was busy; then two forms of one folder would look
    like two folders.
    """
    if text.startswith(_EXTENDED_SHARE):
        return "\\\\" + text[len(_EXTENDED_SHARE) :]
    return text.removeprefix(_EXTENDED)


def comparable(*parts: str) -> tuple[str, ...]:
    """Return the parts of a joined path, for comparison; a later absolute path replaces others."""
    return tuple(part.casefold() for part in Path(*parts).parts)


def _is_device_name(part: str) -> bool:
    # Windows ignores the extension: `con.txt` is the console too.
    stem = part.split(".", maxsplit=1)[0].rstrip()
    return SLUG.fullmatch(stem) is not None and not is_slug(stem)
