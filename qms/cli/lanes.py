"""Runs many commands in a few threads, each with a session of its own."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from qms.cli.target import Session

LANES = min(8, 2 * (os.cpu_count() or 1))
"""How many requests go on at once: a server shares one sync of its disk among them."""

Job = TypeVar("Job")


def in_lanes(session: Session, jobs: Iterable[Job], act: Callable[[Session, Job], object]) -> None:
    """Run `act` on every job, in any order; the first error ends all, and is raised here."""
    left = deque(jobs)
    errors: list[BaseException] = []

    def work(own: Session) -> None:
        try:
            while left:
                try:
                    job = left.popleft()
                except IndexError:  # another thread took it
                    return
                act(own, job)
        except BaseException as error:  # noqa: BLE001 - raised by the caller's thread
            left.clear()
            errors.append(error)
        finally:
            own.backend.close()

    asked = msgspec.structs.replace(session.asked, project=session.project)
    lanes = [Session(session.backend.lane(), asked) for _ in range(min(LANES, len(left)))]
    threads = [threading.Thread(target=work, args=[one], daemon=True) for one in lanes]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    finally:
        left.clear()  # after an interrupt, too
    if errors:
        raise errors[0]
