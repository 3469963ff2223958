"""Fifty agents at once: no errors and flat memory; and too many of them: only patience is asked."""

import threading
from functools import partial
from pathlib import Path

import pytest

from tests.support.server import ServerProcess, store_folder
from tests.support.stores import assert_files_whole
from tests.support.waiting import eventually
from tools.benchmarks.agents import PATIENT_STATUSES, Load, Met, make_root, put_load_on, wait_until

MAX_GROWTH = 1.05

SEARCHABLE_S = 120.0
SETTLED_S = 900.0
"""Vectors are made at low priority: beside other work that takes its time."""


def is_searched(server: ServerProcess, project: str) -> bool:
    with server.client(project) as client:
        return client.send("searchEntries", {"query": {"text": "anything"}}).status == 200


def has_vectors(server: ServerProcess, project: str) -> bool:
    return bool(server.store(project)["embeddingBacklog"] == 0)


def run(root: Path, load: Load, *, settled: bool = False) -> tuple[Met, int]:
    """Serve a filled root under a load; return what the agents met, and how the server ended."""
    make_root(root, load)
    with ServerProcess(root, key=load.keys()[0]) as server:
        for project in load.projects():
            wait_until(partial(is_searched, server, project), SEARCHABLE_S)
        for project in load.projects() if settled else ():
            wait_until(partial(has_vectors, server, project), SETTLED_S)
        met = put_load_on(server.url, server.process.pid, load)
        assert server.call(load.projects()[0], "health")["status"] == "Healthy"
        return met, server.stop()


def test_fifty_agents_are_served_for_a_minute_without_errors_in_flat_memory(tmp_path: Path) -> None:
    met, code = run(tmp_path, Load(), settled=True)

    print(met.summary())
    assert met.faults == []
    assert set(met.statuses) == {200}
    assert met.growth() <= MAX_GROWTH, met.summary()
    assert code == 0


@pytest.mark.fault("F27")
def test_a_server_stopped_under_fifty_agents_ends_in_order(tmp_path: Path) -> None:
    load, met = Load(seconds=10, think_s=0.3, stores=2, entries=200), Met()
    make_root(tmp_path, load)
    with ServerProcess(tmp_path, key=load.keys()[0]) as server:
        agents = threading.Thread(
            target=put_load_on, args=(server.url, server.process.pid, load, met)
        )
        agents.start()
        eventually(lambda: met.statuses[200] > 100)

        code = server.stop()
        agents.join()

    assert code == 0
    assert set(met.statuses) <= {200, *PATIENT_STATUSES}
    lost = {fault.partition(": ")[2] for fault in met.faults}
    assert lost <= {"ConnectionRefusedError", "ConnectionResetError", "IncompleteReadError"}
    for project in load.projects():
        folder = store_folder(tmp_path, project)
        assert_files_whole(folder)
        assert (folder / ".qms" / "journal.wal").stat().st_size <= 8


@pytest.mark.long
@pytest.mark.timeout(2400)
def test_the_memory_of_the_server_stays_flat_for_a_quarter_of_an_hour(tmp_path: Path) -> None:
    met, code = run(tmp_path, Load(seconds=900), settled=True)

    print(met.summary())
    assert met.faults == []
    assert set(met.statuses) == {200}
    assert met.growth() <= MAX_GROWTH, met.summary()
    assert code == 0


@pytest.mark.attack(54)
def test_more_calls_than_the_server_can_take_are_told_when_to_come_back(tmp_path: Path) -> None:
    too_much = Load(agents=90, think_s=0.0, seconds=2, stores=2, entries=400)

    met, code = run(tmp_path, too_much)

    assert met.faults == []
    assert met.statuses[503] > 0
    assert set(met.statuses) <= {200, *PATIENT_STATUSES}
    assert code == 0


def test_the_measure_of_growth_sees_a_leak() -> None:
    leak = [(part / 100, 1000 + 2 * part) for part in range(100)]

    assert Met(memory=leak).growth() > MAX_GROWTH
    assert Met(memory=[(part, 1000) for part, _ in leak]).growth() == 1
