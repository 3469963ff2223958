"""Types are prepared before threads use them: msgspec crashes when two threads use one first."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.memory.struct_types import loaded_types, prepare_types
from tests.support.decode_calls import PROGRAMS, is_prepared
from tests.support.first_use import make_root

SIGSEGV = "11"
LONG_STARTS = 2000

needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="children are forked")


def run(*arguments: str) -> Any:
    found = subprocess.run(
        [sys.executable, "-m", *arguments], capture_output=True, check=True, encoding="utf-8"
    )
    return json.loads(found.stdout.splitlines()[-1])


@pytest.mark.slow
@needs_fork
def test_prepared_types_can_be_used_first_by_many_threads_at_once() -> None:
    assert run("tests.support.first_use", "decode", "prepared", "15") == {"0": 15}


@pytest.mark.slow
@needs_fork
def test_without_preparation_the_same_threads_end_the_process() -> None:
    ended = run("tests.support.first_use", "decode", "unprepared", "10")

    assert ended.get(SIGSEGV, 0) > 0


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize(
    "starts",
    [3, pytest.param(LONG_STARTS, marks=[pytest.mark.long, pytest.mark.timeout(4 * 3600)])],
)
def test_a_root_with_ten_stores_starts_every_time(tmp_path: Path, starts: int) -> None:
    make_root(tmp_path)

    ended = run("tests.support.first_use", "start", "prepared", str(starts), str(tmp_path))

    assert ended == {"0": starts}


@pytest.mark.slow
@needs_fork
@pytest.mark.parametrize(
    "count", [2, pytest.param(100, marks=[pytest.mark.long, pytest.mark.timeout(3600)])]
)
def test_native_libraries_can_be_imported_by_many_threads_at_once(count: int) -> None:
    assert run("tests.support.first_use", "import", "prepared", str(count)) == {"0": count}


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_type_that_a_program_decodes_is_prepared(program: str) -> None:
    found = run("tests.support.decode_calls", program)

    assert found["types"] > 0
    assert found["unprepared"] == []
    assert found["unknown"] == []


def test_every_loaded_type_is_prepared_or_can_never_be_decoded() -> None:
    prepare_types()

    assert [found for found in loaded_types() if not is_prepared(found) and _is_usable(found)] == []


def test_a_type_is_prepared_once() -> None:
    prepare_types()

    assert prepare_types() == 0


def test_types_of_a_module_under_import_are_left_to_that_import(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = sys.modules["qms.memory.entry"].__spec__
    assert any(found.__module__ == "qms.memory.entry" for found in loaded_types())

    monkeypatch.setattr(spec, "_initializing", True, raising=False)

    assert not any(found.__module__ == "qms.memory.entry" for found in loaded_types())


def _is_usable(found: type[Any]) -> bool:
    try:
        msgspec.json.Decoder(found)
    except (NameError, TypeError):
        return False
    return True
