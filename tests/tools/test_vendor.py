"""The third-party files of the admin page are those that `tools/vendor.py` made."""

import hashlib

import msgspec
import pytest

from tools.vendor import FILES, FOLDER, MANIFEST, Listed

LISTED = msgspec.json.decode((FOLDER / MANIFEST).read_bytes(), type=list[Listed])


def test_the_manifest_lists_what_the_tool_makes() -> None:
    assert [(one.file, one.packages) for one in LISTED] == [
        (made.name, list(made.packages)) for made in FILES
    ]


@pytest.mark.parametrize("one", LISTED, ids=lambda one: one.file)
def test_a_file_is_the_one_that_was_listed(one: Listed) -> None:
    assert hashlib.sha256((FOLDER / one.file).read_bytes()).hexdigest() == one.sha256
    assert one.licences


def test_nothing_else_lies_there() -> None:
    others = {MANIFEST, "LICENSES.txt"}

    assert {path.name for path in FOLDER.iterdir()} == others | {one.file for one in LISTED}


def test_every_package_has_its_licence() -> None:
    text = (FOLDER / "LICENSES.txt").read_text(encoding="utf-8")

    for one in LISTED:
        for package in one.packages:
            assert package in text
