"""The two commands of the README are the ones that `.ci/run` executes."""

import re

import pytest

from tests.house.pages import ROOT, code_blocks, read
from tests.support.programs import DEBIAN_PACKAGES
from tools.toolbox import ON_REQUEST, TOOLS

SERVE = "pip install uv && uv run qms serve"
TEST = "pip install uv && uv run --group dev pytest"


@pytest.mark.parametrize("command", [SERVE, TEST])
def test_the_readme_shows_the_command_on_a_line_of_its_own(command: str) -> None:
    lines = [line for block in code_blocks(read("README.md")) for line in block.split("\n")]

    assert command in lines


@pytest.mark.parametrize(("name", "command"), [("SERVE_COMMAND", SERVE), ("TEST_COMMAND", TEST)])
def test_ci_executes_the_command_of_the_readme(name: str, command: str) -> None:
    script = read(".ci/run")

    assert f"{name}='{command}'\n" in script
    assert script.count(f'"${name}"') == 1


def test_ci_takes_the_tests_last() -> None:
    steps = re.search(r"^STEPS=\((.*)\)$", read(".ci/run"), re.MULTILINE)

    assert steps is not None
    assert steps[1] == "install format lint types layers docs serve page wine test"


def test_a_whole_run_takes_the_tests_of_the_docs_step_once() -> None:
    script = read(".ci/run")

    assert 'step_docs() { run pytest -n 0 "$DOCS_TESTS"; }' in script
    assert "if [[ $step == docs ]]; then export DOCS_TESTED=1; fi" in script
    assert script.count('--ignore=$DOCS_TESTS"') == 1
    assert "if [[ -n ${DOCS_TESTED:-} ]]; then" in script


def test_ci_installs_every_program_that_a_test_may_need() -> None:
    packages = re.search(r"^PACKAGES=\((.*)\)$", read(".ci/run"), re.MULTILINE)

    assert packages is not None
    assert set(packages[1].split()) == set(DEBIAN_PACKAGES.values())


def test_every_program_that_a_test_needs_is_known() -> None:
    needed = {
        program
        for path in (ROOT / "tests").rglob("test_*.py")
        for arguments in re.findall(r"mark\.needs\(([^)]*)\)", path.read_text(encoding="utf-8"))
        for program in re.findall(r'"([^"]+)"', arguments)
    }

    assert needed <= set(DEBIAN_PACKAGES) | set(TOOLS) | set(ON_REQUEST)


def test_ci_prepares_the_tools_of_others_that_tests_run() -> None:
    assert "tools/toolbox.py" in read(".ci/run")


def test_the_readme_helps_where_pip_refuses() -> None:
    readme = read("README.md")

    assert "pipx install uv" in readme
    assert "--break-system-packages" in readme
