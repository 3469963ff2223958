"""Paths of modules and files that pages, scripts and strings quote."""

import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from tests.house.pages import ROOT, tracked_files

QUOTING = ("docs/", "installer/", "qms/", "spa/", "tools/", "README.md", "ARCHITECTURE.md")
SETTINGS = ("pyproject.toml", ".ci/run")
EXEMPT = {
    "docs/decisions/": "a decision keeps the names of its day",
    "spa/vendor/": "others wrote it",
    "tests/tools/test_mutants.py": "it makes a package up",
}

NO_MODULES = {
    "qms.exchange": "a key of an ASGI scope",
    "qms.log": "the log file",
    "qms.project": "a key of the browser's storage",
    "qms.signedIn": "a key of the browser's storage",
    "qms.theme": "a key of the browser's storage",
    "qms.message": "a key of an ASGI scope",
}

_DOTTED = re.compile(r"(?<![\w./-])qms(?:\.[A-Za-z_]\w*)+")
_SLASHED = re.compile(r"(?<![\w./^-])(?>(?:qms|tests)(?:/[\w.-]*\w)+)(?![<{*…])")
"""Atomic, so that the beginning of a pattern such as `tests/test_*.py` is no path."""

_MADE_BY_THE_BUILD = "qms/_data"


def quoting_files(*places: str) -> list[Path]:
    """Return the tracked files below some places, without those that are exempt."""
    named = [(path, path.relative_to(ROOT).as_posix()) for path in tracked_files()]
    return [
        path
        for path, name in named
        if name.startswith(places) and not name.startswith(tuple(EXEMPT))
    ]


def texts(*places: str) -> Iterator[tuple[str, str]]:
    for path in quoting_files(*places):
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package, or is none that this system can import
        return False


def resolves(name: str) -> bool:
    """Say whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    count = next(n for n in range(len(parts), 0, -1) if is_module(".".join(parts[:n])))
    try:
        if count < len(parts):
            reduce(getattr, parts[count:], importlib.import_module(".".join(parts[:count])))
    except (AttributeError, ImportError):
        return False
    return True


def unresolved(text: str) -> set[str]:
    return {name for name in _DOTTED.findall(text) if not resolves(name)}


def missing_files(text: str) -> set[str]:
    return {
        name
        for name in _SLASHED.findall(text)
        if not (ROOT / name).exists() and not name.startswith(_MADE_BY_THE_BUILD)
    }


@pytest.mark.needs("git")
def test_every_quoted_module_path_leads_to_a_module_or_an_attribute_of_one() -> None:
    found = {
        f"{place}: {name}"
        for place, text in texts(*QUOTING, *SETTINGS)
        for name in unresolved(text) - NO_MODULES.keys()
    }

    assert found == set()


@pytest.mark.needs("git")
def test_every_quoted_path_of_a_source_or_test_is_there() -> None:
    found = {
        f"{place}: {name}"
        for place, text in texts(*QUOTING, *SETTINGS, "tests/")
        if not place.startswith(("tests/house/", "tests/data/"))  # they make names up
        for name in missing_files(text)
    }

    assert found == set()


@pytest.mark.needs("git")
def test_every_name_that_is_no_module_is_still_in_use() -> None:
    used = {name for _, text in texts(*QUOTING) for name in unresolved(text)}

    assert NO_MODULES.keys() - used == set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("`python -m qms.host.listening`", {"qms.host.listening"}),
        ("see qms.memory.errors.GoneError.", {"qms.memory.errors.GoneError"}),
        ('"qms.service.entries"', {"qms.service.entries"}),
        ("see qms.memory.errors.QmsError.exit_code, qms.memory and logs/qms.log", set()),
    ],
)
def test_the_scan_finds_modules_and_attributes_that_are_gone(text: str, found: set[str]) -> None:
    assert unresolved(text) == found


def test_the_scan_finds_files_that_are_gone() -> None:
    gone = "`qms/fsio` and tests/host/contract."
    present = (
        "qms/memory/errors.py, tests/house, tests/gone/test_<name>.py, tests/f*.py, .qms/lock."
    )

    assert missing_files(gone) == {"qms/fsio", "tests/host/contract"}
    assert missing_files(present) == set()
