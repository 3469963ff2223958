"""Workers: an answer, or a clear reason, and no process left behind."""

import os
import signal
import subprocess
import sys
import time
from collections import deque

import psutil
import pytest

from qms.sandbox.walls import ALL_WALLS, Bounds, Wall
from qms.sandbox.worker import End, Worker, WorkerError, run_job, standing_walls

MEGABYTE = 1024 * 1024
NO_WALLS: frozenset[Wall] = frozenset()
PROBES = "tests.sandbox.probes"
ECHO = "qms.sandbox.child:echo"


def end_of(work: str, told: bytes, bounds: Bounds, walls: frozenset[Wall] = ALL_WALLS) -> End:
    with pytest.raises(WorkerError) as caught:
        run_job(f"{PROBES}:{work}", told, bounds, walls)
    return caught.value.end


def test_a_worker_answers_a_message_of_many_megabytes() -> None:
    data = os.urandom(MEGABYTE) * 20

    assert run_job(ECHO, data, Bounds()) == data


def test_work_that_does_not_end_is_killed_at_its_deadline() -> None:
    with Worker(f"{PROBES}:sleep", Bounds(deadline_s=0.5)) as worker:
        worker.send(b"")
        with pytest.raises(WorkerError, match=r"longer than 0\.5 s") as caught:
            worker.receive()

        assert caught.value.end is End.DEADLINE
        assert not psutil.pid_exists(worker.process_id)


def test_a_crash_of_native_code_is_an_error_of_the_job_alone() -> None:
    assert end_of("crash", b"", Bounds()) is End.CRASH


def test_an_error_of_the_work_reaches_the_caller_with_its_text() -> None:
    with pytest.raises(WorkerError, match="a sentence about it") as caught:
        run_job(f"{PROBES}:fail", b"a sentence about it", Bounds())

    assert (caught.value.end, caught.value.error) == (End.FAILED, "ValueError")


def test_work_that_is_not_there_is_an_error_with_a_reason() -> None:
    with pytest.raises(WorkerError, match="nothing"):
        run_job(f"{PROBES}:nothing", b"", Bounds())


def test_memory_beyond_the_bound_is_refused() -> None:
    bounds = Bounds(memory_bytes=128 * MEGABYTE)

    assert end_of("allocate", b"%d" % (256 * MEGABYTE), bounds) is End.MEMORY


def test_memory_beyond_the_bound_is_noticed_where_the_system_has_no_limit() -> None:
    bounds = Bounds(memory_bytes=128 * MEGABYTE)
    with Worker(f"{PROBES}:allocate", bounds, NO_WALLS) as worker:
        worker.send(b"%d" % (256 * MEGABYTE))
        with pytest.raises(WorkerError) as caught:
            deque(iter(worker.receive, None))

    assert caught.value.end is End.MEMORY


def test_memory_within_the_bound_is_given() -> None:
    bounds = Bounds(memory_bytes=256 * MEGABYTE)

    assert run_job(f"{PROBES}:allocate", b"%d" % (128 * MEGABYTE), bounds) == b"done"


def test_an_answer_that_is_too_long_is_not_read() -> None:
    assert end_of("flood", b"%d" % (2 * MEGABYTE), Bounds(message_bytes=MEGABYTE)) is End.CRASH


def test_what_a_library_prints_does_not_get_between_the_messages() -> None:
    assert run_job(f"{PROBES}:babble", b"clean", Bounds()) == b"clean"


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are numbered differently there")
def test_a_worker_gets_no_environment_and_no_descriptor_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QMS_SECRET", "x")

    found = run_job(f"{PROBES}:environment", b"", Bounds(), NO_WALLS).decode()

    assert "QMS" not in found
    assert found.endswith("[0, 1, 2, 3]")


def test_the_walls_that_health_reports_are_those_of_a_real_worker() -> None:
    with Worker(ECHO, Bounds()) as worker:
        assert standing_walls() == worker.walls
    with Worker(ECHO, Bounds(), NO_WALLS) as open_worker:
        assert open_worker.walls == ()


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends orphans on Linux")
def test_a_worker_ends_with_the_process_that_started_it() -> None:
    code = (
        "import sys; from qms.sandbox.worker import Worker; from qms.sandbox.walls import Bounds\n"
        f"worker = Worker('{ECHO}', Bounds()); print(worker.process_id, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        orphan = psutil.Process(int(parent.stdout.readline()))
        parent.send_signal(signal.SIGKILL)
        parent.wait(30)

    gone, _alive = psutil.wait_procs([orphan], timeout=30)
    assert gone or orphan.status() == psutil.STATUS_ZOMBIE


def test_a_worker_that_is_closed_early_is_gone_at_once() -> None:
    began = time.monotonic()
    with Worker(f"{PROBES}:sleep", Bounds(deadline_s=600)) as worker:
        worker.send(b"")

    assert not psutil.pid_exists(worker.process_id)
    assert time.monotonic() - began < 600
