import threading
from pathlib import Path

from qms.http.threads import WAITING_THREADS
from tests.conftest import EntryMaker
from tests.support.house import Clock, House


def test_callers_of_a_store_that_loads_slowly_keep_nobody_else_waiting(
    tmp_path: Path, clock: Clock, entry: EntryMaker
) -> None:
    may_load = threading.Event()

    def wait(project: str) -> None:
        if project == "projB":
            assert may_load.wait(60)

    house = House(tmp_path, clock, before_opening=wait)
    for project in ("projA", "shared"):
        house.store(project)
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(house.door("reader", "projB").send("listEntries", {}).status)

    callers = [threading.Thread(target=ask) for _ in range(WAITING_THREADS + 10)]
    try:
        for caller in callers:
            caller.start()

        assert house.door("writer")("upsertEntry", entry=entry())["created"]
        assert len(house.door("reader")("listEntries")["items"]) == 1
        assert house.door("reader")("health")["status"] == "Loading"
        assert statuses == []
    finally:
        may_load.set()
        for caller in callers:
            caller.join()
        house.close()
    assert statuses == [200] * len(callers)
