"""Files that ship with the program are found in a wheel and in a checkout."""

from pathlib import Path

import pytest

from qms.resources import TEMPLATE_NAME, find_resource


def test_a_checkout_finds_the_template_at_its_top() -> None:
    assert find_resource(TEMPLATE_NAME).name == TEMPLATE_NAME


def test_an_installed_package_finds_its_data_folder_first(tmp_path: Path) -> None:
    package = tmp_path / "qms"
    (package / "_data").mkdir(parents=True)
    (package / "_data" / "thing.txt").write_text("wheel", encoding="utf-8")
    (tmp_path / "thing.txt").write_text("somebody else's", encoding="utf-8")
    found = find_resource("thing.txt", package=package)
    assert found.read_text(encoding="utf-8") == "wheel"


def test_a_missing_resource_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        find_resource("nothing.txt", package=tmp_path / "qms")
