"""An installation waits until its server says that it is well."""

import json
from pathlib import Path

import pytest

from qms.fsio import lock
from qms.fsio.lock import Owner
from qms.host.installing.health import becomes_healthy
from qms.runtime.root import LOCK_PLACE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    owner = Owner(pid=7, command="test", started_utc="", url="http://127.0.0.1:9")
    held = lock.acquire(tmp_path / LOCK_PLACE, owner)
    held.describe(owner)
    return tmp_path


def asked_of(root: Path, *statuses: str) -> tuple[bool, int]:
    """Return whether the server is found to be well, and how often one had to wait for it."""
    answers = iter(statuses)
    pauses: list[float] = []

    def ask(url: str) -> str:
        assert url == "http://127.0.0.1:9/health"
        status = next(answers)
        if not status:
            raise ConnectionRefusedError
        return json.dumps({"status": status})

    found = becomes_healthy(root, ask=ask, limit_s=len(statuses) / 2, pause=pauses.append)
    return found, len(pauses)


def test_it_waits_while_the_server_loads(root: Path) -> None:
    assert asked_of(root, "", "Loading", "Healthy") == (True, 2)


def test_a_degraded_server_serves(root: Path) -> None:
    assert asked_of(root, "Degraded") == (True, 0)


def test_a_server_that_stays_unwell_is_not_healthy(root: Path) -> None:
    assert asked_of(root, "Unhealthy", "Unhealthy", "Unhealthy") == (False, 3)


def test_a_root_without_a_server_is_not_healthy(tmp_path: Path) -> None:
    assert not becomes_healthy(tmp_path, limit_s=1, pause=lambda _seconds: None)
