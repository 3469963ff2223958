"""Check that the tests notice small faults: put each into a copy of the code and run its tests.

The faults are rows of `tools/mutants/*.toml`. `--list` names them, `--only ID` takes some of them.
The exit code is 0 only when the tests of every mutant fail.
"""

import argparse
import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
ROWS = "tools/mutants"
PACKAGE = "qms"

COPIED = (PACKAGE, "tests", "tools")
"""The folders that a run has a copy of; of all others it has a link."""

LIMIT_S = 120.0
"""How long the tests of one mutant may take: one that never ends is noticed as well."""

CHECK_LIMIT_S = 1200.0
"""How long all tests together may take on the code as it is."""

_FAILED = 1
"""The exit code of pytest when tests ran and some failed; any higher one says that none ran."""


class Mutant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One small fault, and the tests that must notice it."""

    id: str
    file: str
    find: str
    replace: str
    fault: str
    tests: list[str]


class _Rows(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mutant: list[Mutant]


class Outcome(StrEnum):
    """What became of one mutant."""

    KILLED = "killed"
    TIMED_OUT = "killed (time limit)"
    SURVIVED = "SURVIVED"
    NOT_FOUND = "find text not found once"
    NOT_RUN = "TESTS DID NOT RUN"

    @property
    def is_killed(self) -> bool:
        """Say whether the tests noticed the fault."""
        return self in (Outcome.KILLED, Outcome.TIMED_OUT)


class Finished(msgspec.Struct, frozen=True):
    """How a run of tests ended; the code is None when it was ended by the limit."""

    code: int | None
    output: str


def read_mutants(root: Path = ROOT) -> list[Mutant]:
    """Return the mutants of every file of rows; an id stands for one of them only."""
    mutants = [
        mutant
        for path in sorted((root / ROWS).glob("*.toml"))
        for mutant in msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Rows).mutant
    ]
    ids = [mutant.id for mutant in mutants]
    twice = sorted({identity for identity in ids if ids.count(identity) > 1})
    if twice:
        raise ValueError(f"these ids are used more than once: {', '.join(twice)}")
    return mutants


def is_applicable(mutant: Mutant, root: Path) -> bool:
    """Say whether the text to replace is in its file exactly once."""
    path = root / mutant.file
    return path.is_file() and path.read_text(encoding="utf-8").count(mutant.find) == 1


def file_of(node: str) -> str:
    """Return the file of a test's node id."""
    return node.partition("::")[0]


@contextlib.contextmanager
def copied(root: Path) -> Iterator[Path]:
    """Make a copy of the checkout whose code is the one that Python imports there."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        copy = Path(scratch).resolve() / root.name
        copy.mkdir()
        for path in root.iterdir():
            if path.name.startswith("."):
                continue
            if path.name in COPIED:
                shutil.copytree(path, copy / path.name, ignore=_is_cache)
            elif path.is_dir():
                (copy / path.name).symlink_to(path, target_is_directory=True)
            else:
                shutil.copy2(path, copy / path.name)
        _check_import(copy)
        yield copy


@contextlib.contextmanager
def applied(mutant: Mutant, copy: Path) -> Iterator[None]:
    """Have the fault in the copy inside this block."""
    path = copy / mutant.file
    text = path.read_text(encoding="utf-8")
    _write(path, text.replace(mutant.find, mutant.replace))
    try:
        yield
    finally:
        _write(path, text)


def run_tests(copy: Path, tests: Iterable[str], *, limit_s: float) -> Finished:
    """Run these tests on the code of the copy, up to the first that fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, *tests],
        cwd=copy,
        env=_environment(copy),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # so that the limit ends what the tests started, too
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            return Finished(None, f"not over after {limit_s:.0f} s")
        finally:
            _end(process)
    return Finished(process.returncode, output)


def try_mutant(mutant: Mutant, copy: Path, *, limit_s: float = LIMIT_S) -> tuple[Outcome, str]:
    """Put the fault into the copy, run its tests, and return what became of it and their output."""
    if not is_applicable(mutant, copy):
        return Outcome.NOT_FOUND, ""
    with applied(mutant, copy):
        finished = run_tests(copy, mutant.tests, limit_s=limit_s)
    match finished.code:
        case None:
            return Outcome.TIMED_OUT, finished.output
        case 0:
            return Outcome.SURVIVED, finished.output
        case code if code == _FAILED:
            return Outcome.KILLED, finished.output
        case _:
            return Outcome.NOT_RUN, finished.output


def run(root: Path, mutants: Sequence[Mutant], *, limit_s: float = LIMIT_S) -> int:
    """Try these mutants, print what became of each, and return the exit code."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    with copied(root) as copy:
        finished = run_tests(copy, tests, limit_s=CHECK_LIMIT_S)
        if finished.code != 0:
            print(finished.output)
            print("the tests fail without any mutant: nothing was tried")
            return 1
        killed = 0
        for mutant in mutants:
            outcome, output = try_mutant(mutant, copy, limit_s=limit_s)
            killed += outcome.is_killed
            print(f"{outcome}: {mutant.id}", flush=True)
            if not outcome.is_killed:
                print(f"    {mutant.file}: {mutant.fault}")
            if outcome is Outcome.NOT_RUN:
                print(output)
    print(f"{killed} killed, {len(mutants) - killed} survived")
    return 0 if killed == len(mutants) else 1


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Read the arguments, list or try the mutants, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="ID", help="try these mutants only")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    given = parser.parse_args(arguments)
    mutants = read_mutants(root)
    if given.only:
        unknown = sorted(set(given.only) - {mutant.id for mutant in mutants})
        if unknown:
            parser.error(f"no mutant has the id {', '.join(unknown)}")
        mutants = [mutant for mutant in mutants if mutant.id in given.only]
    if given.list:
        for mutant in mutants:
            print(f"{mutant.id}: {mutant.file}: {mutant.fault}")
        return 0
    return run(root, mutants)


def _is_cache(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == "__pycache__"]


def _write(path: Path, text: str) -> None:
    """Write a module and forget its bytecode, which a change of equal length could outlive."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _environment(copy: Path) -> dict[str, str]:
    """Return the environment of a run: the copy comes before what is installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return kept | {"PYTHONPATH": str(copy)}


def _check_import(copy: Path) -> None:
    """Raise unless the package that Python imports is the copy's."""
    asked = f"import {PACKAGE}; print({PACKAGE}.__file__)"
    answer = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=copy.parent,  # the path has to be enough: tests start programs in other folders
        env=_environment(copy),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    if copy not in Path(answer.stdout.strip()).parents:
        raise RuntimeError(f"not the copy's {PACKAGE} is imported but {answer.stdout.strip()}")


def _end(process: "subprocess.Popen[str]") -> None:
    """End what the run has left behind."""
    if os.name == "nt":
        process.kill()
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
