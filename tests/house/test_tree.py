"""The repository's files: what must be there, what must not, and that links lead somewhere."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

from qms.version import __version__
from tests.house.pages import ROOT, links, modules, read, tracked_files

FOLDERS = ("qms", "installer", "models", "MemoryStores", "spa", "tools", "tests", "docs")
PAGES = ("README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE")
SETTINGS = ("pyproject.toml", "QuickMemoryServer.toml", ".gitignore", ".ci/run")

NO_SUBJECT = frozenset({"utils", "util", "helpers", "helper", "common", "manager", "misc"})

FOREIGN = {
    "a home folder": r"(?:/home/|/Users/|[A-Z]:\\Users\\)[A-Za-z0-9]|/root/\S",
    "a package index": r"https?://[^/\s]*(?:registry|artifactory|nexus|simple-index)[^/\s]*/",
    "a merge conflict": r"^(?:<{7}|>{7}) ",
    "a reminder without a tracker": r"\b(?:FIXME|XXX|TODO)\b",
}
"""What belongs to one machine or one moment, and so in no file of the repository."""

THEIRS = (ROOT / "spa" / "vendor", ROOT / "tests" / "data")
"""What others wrote, or is as others write it, spoiled files included."""


def is_theirs(path: Path) -> bool:
    return any(folder in path.parents for folder in THEIRS)


@pytest.mark.parametrize("name", FOLDERS + PAGES + SETTINGS)
def test_the_top_level_is_as_a_newcomer_is_told(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.needs("git")
@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names_what_belongs_to_one_machine_or_moment(what: str) -> None:
    pattern = re.compile(FOREIGN[what].encode(), re.MULTILINE)

    found = [
        f"{path.relative_to(ROOT)}: {match[0].decode(errors='replace')}"
        for path in tracked_files()
        if path != Path(__file__) and not is_theirs(path)
        for match in pattern.finditer(path.read_bytes())
    ]

    assert found == []


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("a home folder", "see /home/somebody/notes"),
        ("a home folder", r"C:\Users\somebody"),
        ("a package index", "https://registry.example/simple/"),
        ("a merge conflict", "<<<<<<< HEAD"),
        ("a reminder without a tracker", "# TODO later"),
    ],
)
def test_the_patterns_find_what_they_are_for(what: str, text: str) -> None:
    assert re.search(FOREIGN[what], text, re.MULTILINE)


@pytest.mark.needs("git")
def test_a_lock_file_with_download_addresses_is_ignored() -> None:
    ignored = subprocess.run(["git", "check-ignore", "-q", "uv.lock"], cwd=ROOT, check=False)

    assert ignored.returncode == 0
    assert ROOT / "uv.lock" not in tracked_files()


def test_the_changelog_has_an_entry_for_this_version() -> None:
    assert re.search(rf"^## \[{re.escape(__version__)}\]", read("CHANGELOG.md"), re.MULTILINE)


def test_every_module_opens_with_what_it_is_responsible_for() -> None:
    silent = [
        path.relative_to(ROOT)
        for path in modules("qms", "tools")
        if not ast.get_docstring(ast.parse(path.read_bytes()))
    ]

    assert silent == []


def test_a_package_file_holds_a_docstring_and_nothing_else() -> None:
    busy = [
        path.relative_to(ROOT)
        for path in modules("qms")
        if path.name == "__init__.py" and len(ast.parse(path.read_bytes()).body) != 1
    ]

    assert busy == []


def test_every_folder_of_tests_is_a_package_so_that_file_names_may_repeat() -> None:
    folders = {path.parent for path in modules("tests")}

    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


def test_every_module_has_a_subject() -> None:
    names = {path.stem for path in modules("qms", "tools", "tests")}
    folders = {path.parent.name for path in modules("qms", "tools", "tests")}

    assert (names | folders) & NO_SUBJECT == set()


@pytest.mark.needs("git")
def test_every_relative_link_of_a_page_leads_to_a_file() -> None:
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in tracked_files()
        if page.suffix == ".md" and not is_theirs(page)
        for target in links(page.read_text(encoding="utf-8"))
        if not (page.parent / target).exists()
    ]

    assert broken == []


def test_decisions_have_numbers_of_their_own_and_three_parts() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    wanted = ["Context", "Decision", "Consequences"]

    numbers = [int(page.name[:4]) for page in pages]
    assert numbers == sorted(set(numbers))  # a gap is a number that somebody still writes on
    for page in pages:
        assert re.findall(r"^## (\w+)", page.read_text(encoding="utf-8"), re.MULTILINE) == wanted


def test_a_link_to_a_decision_has_the_number_of_its_page() -> None:
    found = [
        (path.name, label, number)
        for path in tracked_files()
        if path.suffix == ".md" and not is_theirs(path)
        for label, number in re.findall(
            r"\[(\d{4})\]\((?:\.\./)*(?:docs/)?(?:decisions/)?(\d{4})-",
            path.read_text(encoding="utf-8"),
        )
    ]

    assert found
    assert [one for one in found if one[1] != one[2]] == []
