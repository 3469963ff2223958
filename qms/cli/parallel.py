"""Runs many commands in a few threads, each with a session of its own."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from typing import TypeVar

import msgspec

from qms.cli.target import Session

MOST_THREADS = min(8, 2 * (os.cpu_count() or 1))
"""How many requests go on at once: a server shares one sync of its disk among them."""

Job = TypeVar("Job")


def run_parallel(
    session: Session, jobs: Iterable[Job], act: Callable[[Session, Job], object]
) -> None:
    """Run `act` on every job, in any order; the first error ends all, and is raised here."""
    left = deque(jobs)

    def work(own: Session) -> None:
        with closing(own.backend):
            while left:
                try:
                    job = left.popleft()
                except IndexError:  # another thread took it
                    return
                act(own, job)

    asked = msgspec.structs.replace(session.asked, project=session.project)
    with ThreadPoolExecutor(MOST_THREADS) as pool:
        sessions = [
            Session(session.backend.for_thread(), asked)
            for _ in range(min(MOST_THREADS, len(left)))
        ]
        try:
            for done in as_completed([pool.submit(work, own) for own in sessions]):
                done.result()
        finally:
            left.clear()  # after an interrupt, too
