"""What `.ci/run` does with a few failed tests: it runs them once more and names them."""

import re
import subprocess
import sys
from pathlib import Path

from tests.house.pages import read

UNSTABLE = """
from pathlib import Path

def test_unstable():
    mark = Path("ran")
    is_first = not mark.exists()
    mark.touch()
    assert not is_first
"""
BROKEN = "def test_broken():\n    assert False\n"
MANY = "".join(f"def test_{n}():\n    assert False\n\n\n" for n in range(4))


def run_twice(folder: Path, tests: str) -> subprocess.CompletedProcess[str]:
    script = read(".ci/run")
    function = re.search(r"^twice\(\) \{.*?^\}$", script, re.MULTILINE | re.DOTALL)
    most = re.search(r"^MOST_UNSTABLE=\d+", script, re.MULTILINE)
    assert function is not None
    assert most is not None
    (folder / "test_it.py").write_text(tests, encoding="utf-8")
    lines = [
        "set -euo pipefail",
        most[0],
        function[0],
        f"twice {sys.executable} -m pytest -q test_it.py",
    ]
    return subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_a_test_that_passes_at_the_second_run_is_named(tmp_path: Path) -> None:
    result = run_twice(tmp_path, UNSTABLE)

    assert result.returncode == 0, result.stdout + result.stderr
    assert "ci: run once more: test_it.py::test_unstable\n" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("1 passed")


def test_a_test_that_fails_twice_fails_the_run(tmp_path: Path) -> None:
    result = run_twice(tmp_path, BROKEN)

    assert result.returncode == 1
    assert result.stdout.count("1 failed") == 2


def test_many_failures_get_no_second_run(tmp_path: Path) -> None:
    result = run_twice(tmp_path, MANY)

    assert result.returncode == 1
    assert result.stdout.count("4 failed") == 1
    assert "once more" not in result.stdout
