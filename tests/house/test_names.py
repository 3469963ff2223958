"""Names that a newcomer can guess: nouns and verbs of the field, each once in a layer."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.house.pages import ROOT, tracked_files

NOUNS = frozenset({"embedding", "keyring", "mining"})
"""Words that end like a gerund and are terms of the field."""

RETIRED = {
    "keepsake": "snapshot",
    "librarian": "indexer",
    "scribe": "index writer",
    "desk": "queue",
    "shelf": "backup folder",
    "precedence": "priority",
    "glance": "scan of raw text",
    "mender": "line repair",
}
"""Words of our own that gave way to the term of the field."""

TEXTS = (".py", ".md", ".js", ".html", ".toml")


def modules_by_layer() -> list[tuple[str, str]]:
    """Return the layer and the basename of every module."""
    paths = (path.relative_to(ROOT / "qms") for path in (ROOT / "qms").rglob("*.py"))
    return [(path.parts[0], path.stem) for path in paths if not path.stem.startswith("__")]


def gerunds(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.endswith("ing") and name not in NOUNS}


def repeated(modules: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {found for found, count in Counter(modules).items() if count > 1}


def retired_words(text: str) -> set[str]:
    return {word for word in RETIRED if re.search(rf"\b{word}s?\b", text, re.IGNORECASE)}


def is_ours(path: Path) -> bool:
    """Say whether a file is text of today: decisions and the changelog speak of their time."""
    place = path.relative_to(ROOT).as_posix()
    theirs = ("docs/decisions/", "spa/vendor/", "tests/", "CHANGELOG.md")
    return place.endswith(TEXTS) and not place.startswith(theirs)


def test_no_module_is_a_gerund() -> None:
    assert gerunds(name for _layer, name in modules_by_layer()) == set()


def test_a_basename_stands_once_in_a_layer() -> None:
    assert repeated(modules_by_layer()) == set()


@pytest.mark.needs("git")
def test_no_retired_term_is_in_code_or_documentation() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): words
        for path in tracked_files()
        if is_ours(path) and (words := retired_words(path.read_text(encoding="utf-8")))
    }

    assert found == {}


def test_the_checks_find_what_they_look_for() -> None:
    assert gerunds(["undoing", "mining", "keys"]) == {"undoing"}
    assert repeated([("store", "keys"), ("store", "keys"), ("auth", "keys")]) == {("store", "keys")}
    assert retired_words("The librarian's two desks") == {"librarian", "desk"}
