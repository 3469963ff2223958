"""A tool that needs a newer Python is installed for one that is there and runs."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.environment import Environment
from tools.toolbox import PythonTool, interpreter_for

NEWER = (3, 19)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")


def program(path: Path, script: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def folder(tmp_path: Path, environment: Environment) -> Path:
    program(tmp_path / "path" / "python3.19", "exit 127")  # as a shim of pyenv that leads nowhere
    environment["PATH"] = str(tmp_path / "path")
    environment["PYENV_ROOT"] = str(tmp_path / "pyenv")
    return tmp_path


def test_a_python_that_does_not_run_is_passed_over(folder: Path) -> None:
    kept = program(folder / "pyenv" / "versions" / "3.19.1" / "bin" / "python", "echo 3 19")

    assert interpreter_for(PythonTool("package", least=NEWER)) == kept


def test_uv_is_left_to_look_when_no_python_is_new_enough(folder: Path) -> None:
    assert interpreter_for(PythonTool("package", least=NEWER)) == ">=3.19"


def test_the_running_python_is_taken_when_it_is_new_enough(folder: Path) -> None:
    assert interpreter_for(PythonTool("package", least=(3, 11))) == sys.executable
