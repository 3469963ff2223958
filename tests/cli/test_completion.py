"""`memoryctl completion` and `man`, as shells and `man` read them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from qms.cli.arguments import leaves
from qms.cli.program import program
from qms.cli.verbs import VERBS
from tests.cli.conftest import Terminal
from tests.support.environment import Environment


def completed(script: str, *words: str) -> list[str]:
    """Return what bash offers for the last word of a line."""
    line = " ".join(f"'{word}'" for word in words)
    state = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}"
    ask = f'{script}\n{state}\n_memoryctl_completion "$0"\necho "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", ask, str(Path(sys.executable).with_name("memoryctl"))],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.split()


@pytest.mark.needs("bash")
def test_bash_completes_verbs_nouns_options_and_choices(files: Terminal) -> None:
    script = files.ok("completion", "bash").out

    assert completed(script, "memoryctl", "rem") == ["remember"]
    assert completed(script, "memoryctl", "backups", "v") == ["verify"]
    assert completed(script, "memoryctl", "list", "--kind", "fact", "--any") == ["--any-tag"]
    assert completed(script, "memoryctl", "list", "--kind", "fa") == ["fact"]
    assert completed(script, "memoryctl", "connect", "claude-") == ["claude-code", "claude-desktop"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_every_shell_has_a_script_that_asks_the_program(files: Terminal, shell: str) -> None:
    script = files.ok("completion", shell).out

    assert f"{shell}_complete" in script
    assert "memoryctl" in script


def test_every_verb_is_offered_with_its_help(files: Terminal, environment: Environment) -> None:
    environment.update(_MEMORYCTL_COMPLETE="zsh_complete", COMP_WORDS="memoryctl ", COMP_CWORD="1")

    lines = files.ok().out.split("\n")

    assert dict(zip(lines[1::3], lines[2::3], strict=False)).items() >= {
        (name, line) for name, (_, line) in VERBS.items()
    }


@pytest.mark.needs("man")
def test_the_manual_page_is_read_without_a_warning(files: Terminal) -> None:
    page = files.ok("man").out

    done = subprocess.run(
        ["man", "--warnings", "-l", "-"],
        input=page,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )

    assert page.startswith(".TH MEMORYCTL 1")
    assert done.stderr == ""


def test_the_manual_page_has_every_verb_with_its_example(files: Terminal) -> None:
    page = files.ok("man").out.replace(r"\-", "-")

    assert [path for path, _ in leaves(program) if f".SS {path}" not in page] == []
    assert "--any-tag" in page


def test_an_unknown_verb_names_the_nearest(files: Terminal) -> None:
    done = files("serach", "x")

    assert done.code == 2
    assert "did you mean search?" in done.err
