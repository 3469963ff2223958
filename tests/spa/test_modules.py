"""The pure modules of the admin page, tested by node itself."""

import subprocess
from pathlib import Path

import pytest

from tools.toolbox import node_program

HERE = Path(__file__).parent


@pytest.mark.needs("node")
@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.stem)
def test_the_tests_of_a_module_pass(path: Path) -> None:
    node = node_program("node")
    assert node is not None

    run = subprocess.run(
        [node, "--test", str(path)], capture_output=True, check=False, encoding="utf-8", timeout=60
    )

    assert run.returncode == 0, run.stdout[-4000:]
