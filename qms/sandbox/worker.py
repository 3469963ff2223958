"""The server's side of a worker: start it, talk to it, and end it at its deadline.

One process does one job. Its answer is bytes like any other input and is decoded strictly by the
caller.
"""

import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
import psutil

from qms.sandbox import child
from qms.sandbox.child import Failure, Start
from qms.sandbox.frames import FAILURE, MESSAGE, READY, BrokenPipe, read_frame, write_frame
from qms.sandbox.walls import ALL_WALLS, Bounds, Wall

if sys.platform == "win32":
    from qms.sandbox import windows

_WATCH_S = 0.1
"""How often the memory of a worker is looked at; the limits of the system come first."""

_OWN_MEMORY = 64 * 1024 * 1024
"""What the interpreter and its libraries may take beside the memory of the job."""

_END_S = 10.0
"""How long a killed process may take to end."""

_OWN_END_S = 1.0
"""How long a process that closed its pipe may take to end by itself, so that its code is known."""

_ENTRY = "from qms.sandbox.child import main; main()"

_asked, _found = threading.Lock(), threading.Event()


class End(StrEnum):
    """Why a worker ended without an answer."""

    DEADLINE = "deadline"
    MEMORY = "memory"
    CRASH = "crash"
    FAILED = "failed"
    """The work raised an error, which is told."""


class WorkerError(Exception):
    """A worker ended without an answer."""

    def __init__(self, end: End, text: str, error: str = "") -> None:
        super().__init__(text)
        self.end = end
        self.error = error
        """The class of the error that the work raised."""


class Worker:
    """One worker process, from its start to its end; a context manager."""

    def __init__(self, target: str, bounds: Bounds, walls: frozenset[Wall] = ALL_WALLS) -> None:
        start = Start(target, bounds, walls)
        self._bounds = bounds
        self._process = _start(msgspec.json.encode(start).decode())
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._incoming, self._outgoing = self._process.stdout, self._process.stdin
        self._job = _job(self._process, bounds, walls)
        self._end: End | None = None
        self._is_done = threading.Event()
        self._watch = threading.Thread(target=self._keep_watch, name="worker watch", daemon=True)
        self._watch.start()
        self.walls: tuple[Wall, ...] = ()
        with ExitStack() as stack:
            stack.callback(self.close)
            own = (Wall.JOB_OBJECT,) if self._job is not None else ()
            self.walls = (*own, *msgspec.json.decode(self._receive(READY), type=list[Wall]))
            stack.pop_all()

    def __enter__(self) -> Self:
        """Return the worker."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process."""
        self.close()

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, data: bytes) -> None:
        """Send a message.

        Raises:
            WorkerError: the worker ended.
        """
        try:
            write_frame(self._outgoing, MESSAGE, data)
        except BrokenPipe:
            raise self._ended() from None

    def receive(self) -> bytes:
        """Return the next message.

        Raises:
            WorkerError: the worker ended, or was ended at one of its bounds.
        """
        return self._receive(MESSAGE)

    def close(self) -> None:
        """End the process, whatever it does, and wait until it is gone."""
        self._is_done.set()
        self._kill()
        self._process.wait(_END_S)
        self._watch.join(_END_S)
        for pipe in (self._outgoing, self._incoming):
            try:
                pipe.close()
            except OSError:
                continue  # what was not sent is not wanted any more

    def _receive(self, wanted: bytes) -> bytes:
        try:
            kind, data = read_frame(self._incoming, self._bounds.message_bytes)
        except BrokenPipe:
            raise self._ended() from None
        if kind == FAILURE:
            raise _failed(data)
        if kind != wanted:
            raise WorkerError(End.CRASH, "the worker does not keep to the protocol")
        return data

    def _ended(self) -> WorkerError:
        code = self._exit_code()
        match self._end:
            case End.DEADLINE:
                seconds = f"{self._bounds.deadline_s:g}"
                return WorkerError(End.DEADLINE, f"it took longer than {seconds} s")
            case End.MEMORY:
                return _out_of_memory()
            case _:
                return WorkerError(End.CRASH, f"the worker process crashed (exit {code})")

    def _exit_code(self) -> int:
        try:
            return self._process.wait(_OWN_END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            return self._process.wait(_END_S)

    def _keep_watch(self) -> None:
        ends_at = time.monotonic() + self._bounds.deadline_s
        most = self._bounds.memory_bytes + _OWN_MEMORY
        while not self._is_done.wait(_WATCH_S):
            if time.monotonic() >= ends_at:
                self._end = End.DEADLINE
            elif _memory_of(self._process.pid) > most:
                self._end = End.MEMORY
            else:
                continue
            self._kill()
            return

    def _kill(self) -> None:
        if sys.platform == "win32" and self._job is not None:
            job, self._job = self._job, None
            windows.close_job(job)
        self._process.kill()


def run_job(target: str, data: bytes, bounds: Bounds, walls: frozenset[Wall] = ALL_WALLS) -> bytes:
    """Return the one answer of a worker to one message.

    Raises:
        WorkerError: it ended without an answer.
    """
    with Worker(target, bounds, walls) as worker:
        worker.send(data)
        return worker.receive()


def known_walls() -> tuple[str, ...] | None:
    """Return the walls as soon as they are known; the first call has them found out meanwhile."""
    if not _found.is_set() and _asked.acquire(blocking=False):
        threading.Thread(target=_find_walls, name="find walls", daemon=True).start()
    return standing_walls() if _found.is_set() else None


def _find_walls() -> None:
    standing_walls()
    _found.set()


@cache
def standing_walls() -> tuple[str, ...]:
    """Return the walls that really stand around a worker here, found by starting one."""
    try:
        with Worker(f"{child.__name__}:{child.echo.__name__}", Bounds()) as worker:
            return worker.walls
    except (OSError, WorkerError):
        return ()


def _failed(data: bytes) -> WorkerError:
    try:
        failure = msgspec.json.decode(data, type=Failure)
    except ValueError:
        return WorkerError(End.CRASH, "the worker does not keep to the protocol")
    if failure.error == MemoryError.__name__:
        return _out_of_memory()
    return WorkerError(End.FAILED, failure.text or failure.error, failure.error)


def _out_of_memory() -> WorkerError:
    return WorkerError(End.MEMORY, "it needs more memory than a worker may use")


def _memory_of(process_id: int) -> int:
    try:
        return int(psutil.Process(process_id).memory_info().rss)
    except psutil.Error:
        return 0


def _start(argument: str) -> subprocess.Popen[bytes]:
    program, environment = _interpreter()
    return subprocess.Popen(  # noqa: S603 - this interpreter, and a module of ours
        [program, "-I", "-X", "utf8", "-c", _ENTRY, argument],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=Path(program).anchor or None,
    )


def _interpreter() -> tuple[str, dict[str, str]]:
    """Return the Python that runs workers, and an environment that tells it no secret."""
    if sys.platform == "win32":
        needed = {"SYSTEMROOT": os.environ["SYSTEMROOT"]}
        # A virtual environment's python.exe only starts another process, which a job forbids.
        base = Path(
            str(getattr(sys, "_base_executable", sys.executable))
        )  # as multiprocessing does
        if base.stem.lower().startswith("python"):
            return str(base), {**needed, "__PYVENV_LAUNCHER__": sys.executable}
        return str(Path(sys.base_prefix) / "python.exe"), needed
    # Without it Python asks the system for the home of its user as it starts.
    return sys.executable, {"HOME": os.sep}


def _job(process: subprocess.Popen[bytes], bounds: Bounds, walls: frozenset[Wall]) -> int | None:
    if sys.platform == "win32" and Wall.JOB_OBJECT in walls:
        return windows.put_into_job(process, bounds.memory_bytes + _OWN_MEMORY)
    return None
