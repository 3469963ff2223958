"""The shell blocks of the README and the guides, and a machine of their own to run them on.

A page is run as a reader would: its blocks in order, in one shell, from a scratch home folder. The
notation is the word after `sh` in the fence: `background` is what goes on in another terminal,
`install` is what needs packages. A block of `text` right after one is what it prints, in order,
with `…` for whatever differs each time.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import groupby
from pathlib import Path

import msgspec

from tests.house.pages import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
PAGES = ["README.md", *(path.relative_to(ROOT).as_posix() for path in GUIDES)]
TEST_COMMAND = "pip install uv && uv run --group dev pytest"
"""The one command that no test runs: it is the one that runs the tests."""

PLAIN, BACKGROUND, INSTALL = "", "background", "install"
LIMIT_S = 240

_REACHES_PACKAGES = ("SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "UV_")
"""What this machine needs to be told before it can fetch a package."""

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LOOPBACK_UP = """\
import fcntl, os, socket, struct, sys
with socket.socket() as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh14x", b"lo", 1))  # SIOCSIFFLAGS, IFF_UP
os.execvp("bash", ["bash", *sys.argv[1:]])
"""


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """One fenced block of a page; `line` is where its fence stands."""

    line: int
    language: str
    word: str
    text: str
    prints: str = ""


def fences(page: str) -> list[Block]:
    """Return every fenced block of a page."""
    found = []
    for match in _FENCE.finditer(page):
        language, _, word = match["info"].partition(" ")
        line = page.count("\n", 0, match.start()) + 1
        found.append(Block(line=line, language=language, word=word, text=match["text"]))
    return found


def shell_blocks(page: str) -> list[Block]:
    """Return the blocks that are run, each with what it is said to print."""
    found: list[Block] = []
    for block in fences(page):
        if block.language == "sh" and block.text.strip() != TEST_COMMAND:
            found.append(block)
        elif block.language == "text" and found:
            found[-1] = msgspec.structs.replace(found[-1], prints=block.text)
    return found


def missing_line(prints: str, output: str) -> str | None:
    """Return the first line that a block should print, in its order, and did not."""
    lines = iter(output.splitlines())
    for wanted in prints.splitlines():
        pattern = re.compile(".*".join(map(re.escape, wanted.split("…"))))
        if not any(pattern.fullmatch(line) for line in lines):
            return wanted
    return None


class Machine:
    """A home folder, a checkout and a loopback of its own."""

    def __init__(self, folder: Path, *, checkout: Path) -> None:
        self.home = folder / "home"
        self._checkout = checkout
        self._outputs = folder / "outputs"
        self._programs = folder / "bin"
        for made in (self.home, self._outputs, self._programs):
            made.mkdir()
        self._link("uv", os.environ.get("UV") or shutil.which("uv") or "uv")
        # Without a network pip can only find that uv is there, which is what matters.
        self._write_program("pip", '[ "$*" = "install uv" ] && command -v uv >/dev/null')

    def run(self, blocks: list[Block]) -> dict[int, str]:
        """Run blocks in order and return what each printed, by its line.

        The programs are there already, unless the first thing that is done is to install them.
        """
        path = [self._programs, self.home / ".local" / "bin"]
        if blocks[0].word != INSTALL:
            path.append(Path(sys.executable).parent)
        environment = self._environment([*map(str, path), "/usr/local/bin", "/usr/bin", "/bin"])
        for is_install, stage in groupby(blocks, lambda block: block.word == INSTALL):
            (self._install if is_install else self._play)(list(stage), environment)
        return {block.line: self._output(block).read_text("utf-8") for block in blocks}

    def _install(self, blocks: list[Block], environment: dict[str, str]) -> None:
        """Run blocks with the packages at hand, else with those of the network."""
        command = ["bash", "-c", self._script(blocks)]
        offline = self._bash(command, {**environment, "UV_OFFLINE": "1"})
        if offline.returncode != 0:
            self._check(self._bash(command, {**_reaching_packages(), **environment}), blocks)

    def _play(self, blocks: list[Block], environment: dict[str, str]) -> None:
        command = ["unshare", "-n", sys.executable, "-c", _LOOPBACK_UP, "-c"]
        self._check(self._bash([*command, self._script(blocks)], environment), blocks)

    def _script(self, blocks: list[Block]) -> str:
        """Return a script that goes on where the one before it ended."""
        kept = self._outputs / "environment"
        lines = ["set -euo pipefail", f"[ ! -e '{kept}' ] || {{ . '{kept}'; cd \"$PWD\"; }}"]
        for block in blocks:
            output = self._output(block)
            lines += [f"echo {block.line} > '{self._outputs}/step'", "{", block.text.rstrip("\n")]
            if block.word == BACKGROUND:
                ready = f"grep -qs '^listening: ' '{output}'"
                lines += [
                    f"}} > '{output}' 2>&1 &",
                    f"until {ready}; do kill -0 $!; sleep 0.1; done",
                ]
            else:
                lines += [f"}} > '{output}' 2>&1"]
        return "\n".join([*lines, f"export -p > '{kept}'"])

    def _check(self, done: "subprocess.CompletedProcess[str]", blocks: list[Block]) -> None:
        if done.returncode == 0:
            return
        line = int((self._outputs / "step").read_text("utf-8"))
        failed = next(block for block in blocks if block.line == line)
        shown = self._output(failed).read_text("utf-8") + done.stdout
        raise AssertionError(f"line {line} ended with {done.returncode}:\n{shown}")

    def _bash(
        self, command: list[str], environment: dict[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        """Run a shell, and end with it whatever it has started."""
        process = subprocess.Popen(
            command,
            cwd=self._checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return subprocess.CompletedProcess(command, process.returncode, output)

    def _environment(self, path: list[str]) -> dict[str, str]:
        cache = subprocess.run(
            [self._programs / "uv", "cache", "dir"],
            capture_output=True,
            check=True,
            encoding="utf-8",
        )
        return {
            "HOME": str(self.home),
            "PATH": ":".join(path),
            "LANG": "C.UTF-8",
            "UV_CACHE_DIR": cache.stdout.strip(),
            "UV_PYTHON": sys.executable,
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_PROJECT_ENVIRONMENT": sys.prefix,
            "UV_NO_SYNC": "1",
            **{f"GIT_{who}_NAME": "A Reader" for who in ("AUTHOR", "COMMITTER")},
            **{f"GIT_{who}_EMAIL": "reader@example" for who in ("AUTHOR", "COMMITTER")},
        }

    def _output(self, block: Block) -> Path:
        return self._outputs / f"{block.line}.txt"

    def _link(self, name: str, target: str) -> None:
        (self._programs / name).symlink_to(target)

    def _write_program(self, name: str, text: str) -> None:
        path = self._programs / name
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)


def _reaching_packages() -> dict[str, str]:
    """Return what the environment says about certificates, proxies and indexes."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper().startswith(_REACHES_PACKAGES)
    }
