"""What the setup program is told to unpack, and what its launchers are told to run."""

import ast
from pathlib import Path

import pytest

from installer.launchers import LAUNCHERS, Launcher, values
from installer.script import commands


def test_every_file_is_unpacked_beside_the_former_version_in_a_fixed_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    assert "".join(commands(tmp_path)).splitlines() == [
        'SetOutPath "$INSTDIR\\.new\\a\\b"',
        f'File "{tmp_path}/a/b/c.txt"',
        'SetOutPath "$INSTDIR\\.new\\a"',
        f'File "{tmp_path}/a/z.txt"',
        'SetOutPath "$INSTDIR\\.new"',
        f'File "{tmp_path}/b.txt"',
    ]


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.path)
def test_a_launcher_runs_a_function_that_there_is(launcher: Launcher) -> None:
    statement, *_ = ast.parse(launcher.program).body
    assert isinstance(statement, ast.ImportFrom)
    assert statement.module is not None
    path = Path(*statement.module.split(".")).with_suffix(".py")

    source = ast.parse((Path(__file__).parents[2] / path).read_bytes())

    assert "main" in {node.name for node in source.body if isinstance(node, ast.FunctionDef)}


def test_texts_reach_the_compiler_in_one_piece() -> None:
    launcher = Launcher("x.exe", "..\\python", 'print("hi")', "A program")

    assert values(launcher, "1.2.3").splitlines() == [
        '#define PYTHON_FOLDER L"..\\\\python"',
        '#define PROGRAM L"print(\\"hi\\")"',
        '#define DESCRIPTION "A program"',
        '#define FILE_NAME "x.exe"',
        '#define VERSION_TEXT "1.2.3"',
        "#define VERSION_NUMBERS 1,2,3,0",
    ]
