"""The pages of faults and attacks name exactly the tests that stand for them."""

from functools import lru_cache
from pathlib import Path

import pytest

from tests.house.pages import read
from tools.document_tests import NO_TEST, PAGES, files_by_id, fill, id_of

FAULTS_OF_THIS_RELEASE = frozenset(
    f"F{number:02}" for number in (*range(1, 7), 8, *range(10, 17), 18, 20, 21, *range(23, 27))
)


@lru_cache
def marked(marker: str) -> dict[str, list[str]]:
    """Return the files of each id; every file of tests is parsed for it."""
    return files_by_id(marker)


def listed_ids(marker: str) -> list[str]:
    rows = PAGES[marker].read_text(encoding="utf-8").split("\n")
    return [identity for row in rows if (identity := id_of(row))]


@pytest.mark.parametrize("marker", ["fault", "attack"])
def test_every_id_that_a_test_carries_stands_once_on_its_page(marker: str) -> None:
    listed = listed_ids(marker)

    assert sorted(set(listed)) == sorted(listed)
    assert set(marked(marker)) <= set(listed)


@pytest.mark.parametrize("marker", ["fault", "attack"])
def test_the_page_names_the_tests_of_each_id(marker: str) -> None:
    page = PAGES[marker].read_text(encoding="utf-8")

    # `uv run python tools/document_tests.py` brings the page up to date.
    assert fill(page, marked(marker)) == page


def test_every_fault_of_this_release_has_a_test() -> None:
    assert frozenset(marked("fault")) >= FAULTS_OF_THIS_RELEASE


def test_the_page_says_so_when_an_id_has_no_test() -> None:
    row = "| F99 | a fault | what holds | `tests/gone.py` |"

    assert fill(row, {}) == f"| F99 | a fault | what holds | {NO_TEST} |"
    assert fill(row, {"F99": ["tests/test_a.py"]}).endswith("| `tests/test_a.py` |")


def test_a_marker_is_found_on_a_function_a_module_and_a_parameter(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    marks = (
        "@pytest.mark.fault('F01')\ndef test_a(): ...\n",
        "pytestmark = pytest.mark.fault('F02')",
    )
    for number, text in enumerate(marks):
        (folder / f"test_{number}.py").write_text(text, encoding="utf-8")
    parameter = "CASES = [pytest.param(1, marks=pytest.mark.fault('F01'))]"
    (folder / "test_2.py").write_text(parameter, encoding="utf-8")

    assert files_by_id("fault", folder) == {
        "F01": ["tests/test_0.py", "tests/test_2.py"],
        "F02": ["tests/test_1.py"],
    }


def test_the_security_page_says_where_to_report_a_hole() -> None:
    assert "## Reporting" in read("docs/security.md")
