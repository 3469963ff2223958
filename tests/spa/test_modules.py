"""The pure modules of the admin page, tested by node itself."""

import subprocess
from pathlib import Path

import pytest

from tools.toolbox import node_program

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "spa"
MOST_COLUMNS = 120
MOST_LINES = 300


@pytest.mark.needs("node")
@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.stem)
def test_the_tests_of_a_module_pass(path: Path) -> None:
    node = node_program("node")
    assert node is not None

    run = subprocess.run(
        [node, "--test", str(path)], capture_output=True, check=False, encoding="utf-8", timeout=60
    )

    assert run.returncode == 0, run.stdout[-4000:]


def test_the_source_of_the_page_reads_without_scrolling_sideways() -> None:
    sources = [PAGE / "index.html", PAGE / "app.css", *PAGE.glob("js/**/*.js")]
    lines = {path: path.read_text(encoding="utf-8").split("\n") for path in sources}

    wide = [
        f"{path.name}:{number}"
        for path, texts in lines.items()
        for number, text in enumerate(texts, start=1)
        if len(text) > MOST_COLUMNS
    ]
    long = [path.name for path in PAGE.glob("js/**/*.js") if len(lines[path]) > MOST_LINES]

    assert (wide, long) == ([], [])
