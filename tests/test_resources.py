"""Files that ship with the program are found in a wheel and in a checkout."""

from pathlib import Path

import pytest

from qms.resources import LAYOUT_NAME, TEMPLATE_NAME, find_resource, installation_folder


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


def test_an_installation_finds_what_lies_beside_its_private_python(tmp_path: Path) -> None:
    package = tmp_path / "python" / "Lib" / "site-packages" / "qms"
    package.mkdir(parents=True)
    (tmp_path / "models").mkdir()
    with pytest.raises(FileNotFoundError):
        find_resource("models", package=package)
    (tmp_path / LAYOUT_NAME).write_text("{}", encoding="utf-8")
    assert installation_folder(package=package) == tmp_path
    assert find_resource("models", package=package) == tmp_path / "models"


def test_a_checkout_is_no_installation() -> None:
    assert installation_folder() is None
