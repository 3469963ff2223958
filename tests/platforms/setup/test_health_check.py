"""An installation waits until its server says that it is well."""

import json
from pathlib import Path

import pytest

from qms.config.root import LOCK_PLACE
from qms.disk import root_lock
from qms.disk.root_lock import Owner
from qms.platforms.setup.health_check import LIMIT_S, becomes_healthy
from tests.support.waiting import PausesOnly


@pytest.fixture
def root(tmp_path: Path) -> Path:
    owner = Owner(pid=7, command="test", started_utc="", url="http://127.0.0.1:9")
    held = root_lock.acquire(tmp_path / LOCK_PLACE, owner)
    held.describe(owner)
    return tmp_path


def asked_of(root: Path, *statuses: str) -> tuple[bool, int]:
    """Return whether the server is found to be well, and how often one had to wait for it.

    A server without a status refuses; the last status stays.
    """
    remaining = list(statuses)
    clock = PausesOnly()

    def ask(url: str) -> str:
        assert url == "http://127.0.0.1:9/health"
        status = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if not status:
            raise ConnectionRefusedError
        return json.dumps({"status": status})

    return becomes_healthy(root, ask=ask, patience=clock.patience()), clock.pauses


def test_it_waits_while_the_server_loads(root: Path) -> None:
    assert asked_of(root, "", "Loading", "Healthy") == (True, 2)


def test_a_degraded_server_serves(root: Path) -> None:
    assert asked_of(root, "Degraded") == (True, 0)


def test_a_server_that_stays_unwell_is_not_healthy(root: Path) -> None:
    assert asked_of(root, "Unhealthy") == (False, LIMIT_S / 0.5)


def test_an_answer_that_takes_its_time_counts_as_waiting(root: Path) -> None:
    clock = PausesOnly()
    looks = []

    def silent(url: str) -> str:
        looks.append(url)
        clock.now += LIMIT_S / 4
        raise TimeoutError

    assert not becomes_healthy(root, ask=silent, patience=clock.patience())
    assert len(looks) <= 5


def test_a_root_without_a_server_is_not_healthy(tmp_path: Path) -> None:
    assert not becomes_healthy(tmp_path, patience=PausesOnly().patience())
