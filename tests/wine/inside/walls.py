"""The walls of a worker, with Windows Python; each probe has its control where no wall stands.

Wine accepts every call and keeps some of them: a Job Object ends and bounds its process, privileges
go. It neither counts processes nor lowers the integrity level; `WINE_LACKS` says so in one place.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from qms.sandbox.walls import ALL_WALLS, Bounds, Wall
from qms.sandbox.worker import End, Worker, WorkerError, run_job, standing_walls

WINE_LACKS = frozenset({"spawn", "write"})
"""Probes that only a real Windows refuses."""

NO_WALLS: frozenset[Wall] = frozenset()
ECHO = "qms.sandbox.child:echo"
_MEGABYTE = 1 << 20


@pytest.fixture(name="probe", scope="module")
def _probe() -> Iterator[str]:
    """Return the work of the probes, which a worker finds beside the product only."""
    place = Path(sys.prefix, "Lib", "site-packages", "wall_probes.py")
    shutil.copy(Path(__file__).with_name("wall_probes.py"), place)
    yield "wall_probes:probe"
    place.unlink()


def outcome(probe: str, name: str, walls: frozenset[Wall], told: str = "") -> str:
    memory = 256 * _MEGABYTE if walls else 4096 * _MEGABYTE
    try:
        bounds = Bounds(memory_bytes=memory)
        return run_job(probe, f"{name}|{told}".encode(), bounds, walls).decode()
    except WorkerError as error:
        return error.end.value


def test_a_job_object_stands_and_a_token_is_named_only_if_the_system_lowered_it(probe: str) -> None:
    level = outcome(probe, "integrity", ALL_WALLS)

    assert Wall.JOB_OBJECT in standing_walls()
    assert (Wall.RESTRICTED_TOKEN in standing_walls()) == (level == "0")


def test_privileges_are_given_up(probe: str) -> None:
    assert outcome(probe, "privileges", ALL_WALLS) == "0"
    assert outcome(probe, "privileges", NO_WALLS) != "0"


def test_a_gigabyte_is_refused(probe: str) -> None:
    assert outcome(probe, "gigabyte", ALL_WALLS) == End.MEMORY.value
    assert outcome(probe, "gigabyte", NO_WALLS) == "done"


def test_the_environment_holds_nothing_of_the_server(
    probe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QMS_KEY", "secret")

    assert "QMS_KEY" not in outcome(probe, "environment", ALL_WALLS)


def test_closing_the_job_ends_its_process() -> None:
    worker = Worker(ECHO, Bounds())
    process = psutil.Process(worker.process_id)
    assert process.is_running()

    worker.close()

    assert not psutil.pid_exists(worker.process_id)


@pytest.mark.parametrize("name", sorted(WINE_LACKS))
def test_what_wine_does_not_refuse_works_without_walls(
    probe: str, name: str, tmp_path: Path
) -> None:
    assert outcome(probe, name, NO_WALLS, str(tmp_path / "made")) == "done"
