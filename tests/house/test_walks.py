"""The pages of walks name the modules that the running code enters, in its order."""

import pytest

from tests.house.pages import read
from tools.trace_walk import WALKS, Step, filled, fresh_steps


@pytest.mark.parametrize("walk", WALKS)
def test_the_page_of_a_walk_lists_the_steps_of_the_running_code(walk: str) -> None:
    page = read(f"docs/walks/{walk}.md")

    # `uv run python tools/trace_walk.py --write` brings the page up to date.
    assert filled(page, fresh_steps(walk)) == page


def test_a_step_that_is_missing_or_elsewhere_changes_the_page() -> None:
    page = read("docs/walks/backup.md")
    steps = [Step("store.fold", "fold", "Fold"), Step("disk.disk", "Disk.put", "Put a file")]

    assert filled(page, steps) != filled(page, steps[::-1]) != page
