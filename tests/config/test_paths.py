"""Folders stay where the configuration may put them."""

from pathlib import Path

import pytest

from qms.config.paths import path_flaw, resolve_inside, usual_form

HOSTILE = [
    "../../x",
    "a/../../x",
    "..",
    "\\\\host\\share",
    "//host/share/../x",
    "C:\\x",
    "C:x",
    "c:/x",
    "a\\b",
    "a\0b",
    "a\nb",
    "a:stream",
    "con",
    "a/NUL.txt",
    "a/b.",
    "a/b ",
]


@pytest.mark.attack("31")
@pytest.mark.parametrize("text", [*HOSTILE, "/etc"])
def test_a_path_from_outside_cannot_leave_its_folder(text: str) -> None:
    assert path_flaw(text, confined=True)


@pytest.mark.parametrize("text", [text for text in HOSTILE if not text.startswith("//")])
def test_a_relative_path_by_hand_cannot_leave_its_folder(text: str) -> None:
    assert path_flaw(text, confined=False)


def test_an_absolute_path_is_for_people_only(tmp_path: Path) -> None:
    assert path_flaw(str(tmp_path), confined=False) is None
    assert path_flaw(str(tmp_path), confined=True)


@pytest.mark.parametrize("text", ["a", "a/b", "Ä b/c", ".hidden", "a..b", "a/./b", "console"])
def test_an_ordinary_relative_path_is_fine(text: str) -> None:
    assert path_flaw(text, confined=True) is None


@pytest.mark.attack("31")
def test_a_symbolic_link_out_of_the_folder_is_found(tmp_path: Path) -> None:
    base, outside = tmp_path / "base", tmp_path / "outside"
    base.mkdir()
    outside.mkdir()
    (base / "link").symlink_to(outside)
    assert resolve_inside(base, "link") is None
    assert resolve_inside(base, "link/deeper") is None


def test_a_link_that_stays_inside_and_a_linked_base_are_fine(tmp_path: Path) -> None:
    base = tmp_path / "base"
    (base / "real").mkdir(parents=True)
    (base / "link").symlink_to(base / "real")
    (tmp_path / "alias").symlink_to(base)
    assert resolve_inside(tmp_path / "alias", "link") == (base / "real").resolve()


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("\\\\?\\C:\\data\\MemoryStores", "C:\\data\\MemoryStores"),
        ("\\\\?\\UNC\\server\\share\\data", "\\\\server\\share\\data"),
        ("\\\\server\\share", "\\\\server\\share"),
        ("/srv/memory", "/srv/memory"),
    ],
)
def test_a_path_of_windows_has_one_form(text: str, usual: str) -> None:
    assert usual_form(text) == usual
