"""Module paths that earlier versions wrote into unit files, the registry and setup programs."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

FORMER_LAUNCHER = "import sys; from qms.host.windows_service import main; sys.exit(main(sys.argv))"
"""What QuickMemoryServer.exe of earlier versions has Python do."""

LAUNCHER = "import sys; from qms.platforms.windows_service import main; sys.exit(main(sys.argv))"


def ran(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        encoding="utf-8",
        check=False,
        stdin=subprocess.DEVNULL,
    )


def outcome(*arguments: str) -> tuple[int, str, str]:
    ended = ran(*arguments)
    return ended.returncode, ended.stdout, ended.stderr.strip().rpartition("\n")[2]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--help"], 0),
        (["resume", "--help"], 0),
        (["resume"], 2),
        (["remove", "--install-dir=X ", "--nonsense"], 2),
    ],
)
def test_a_former_setup_program_runs_a_step_by_its_former_path(words: list[str], code: int) -> None:
    former = ran("-m", "qms.host.installing", *words)
    present = ran("-m", "qms.platforms.setup", *words)

    assert former.returncode == code
    assert (former.returncode, former.stdout, former.stderr) == (
        present.returncode,
        present.stdout,
        present.stderr,
    )


def test_each_step_of_a_former_setup_program_is_known() -> None:
    listed = ran("-m", "qms.host.installing", "--help").stdout

    assert {"prepare", "activate", "resume", "remove"} <= set(listed.split())


def test_a_step_ends_alike_by_its_former_and_its_present_path(tmp_path: Path) -> None:
    """On Windows it is done; elsewhere it ends where Windows is asked."""
    step = ("resume", f"--install-dir={tmp_path} ")

    assert outcome("-m", "qms.host.installing", *step) == outcome(
        "-m", "qms.platforms.setup", *step
    )


@pytest.mark.parametrize("word", ["--version", "nonsense"])
def test_a_former_registration_and_launcher_reach_the_service_program(word: str) -> None:
    present = outcome("-m", "qms.platforms.windows_service", word)

    assert outcome("-m", "qms.host.windows_service", word) == present
    assert outcome("-c", FORMER_LAUNCHER, word) == outcome("-c", LAUNCHER, word) == present


def test_a_former_unit_file_starts_the_server() -> None:
    ended = ran("-m", "qms.cli.server", "serve", "--help")

    assert ended.returncode == 0, ended.stderr
    assert "--root" in ended.stdout


@pytest.mark.parametrize("name", ["main", "start"])
def test_a_former_console_script_finds_its_function(name: str) -> None:
    assert ran("-c", f"from qms.cli.server import {name}").returncode == 0


def test_a_setup_program_resumes_the_former_version_by_the_former_path() -> None:
    script = (PROJECT / "installer" / "setup.nsi").read_text(encoding="utf-8")
    defined = dict(re.findall(r"^!define (\w*STEP) '-m ([\w.]+)'$", script, re.MULTILINE))
    resumed = re.findall(r"\$\{(\w+)\} resume ", script)

    assert defined == {"STEP": "qms.platforms.setup", "FORMER_STEP": "qms.host.installing"}
    assert resumed == ["FORMER_STEP"]
    assert not re.findall(r'!insertmacro Run .*"resume"', script)


def test_a_forwarding_module_holds_nothing_but_the_way_on() -> None:
    for path in sorted((PROJECT / "qms" / "host").rglob("*.py")):
        kinds = {type(node) for node in ast.parse(path.read_bytes()).body}
        allowed = {ast.Expr, ast.Import, ast.ImportFrom, ast.Assign, ast.If}
        assert kinds <= allowed, path
