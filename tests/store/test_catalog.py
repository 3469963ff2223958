"""The catalog: stores load each on its own, and one that cannot never stops another."""

import gc
import logging
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from qms.memory.errors import NotFoundError, UnavailableError
from qms.store import catalog as catalog_module
from qms.store.catalog import Catalog, by_last_use
from qms.store.memory_store import MemoryStore
from tests.support.projects import open_store, remember, text_of
from tests.support.waiting import BOUND_S, eventually


class Stores:
    """An opener of real stores that counts, and waits or fails where a test says so."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[str] = []
        self.gates: dict[str, threading.Event] = {}
        self.errors: dict[str, BaseException] = {}

    def folder(self, project: str) -> Path:
        return self.root / project

    def __call__(self, project: str) -> MemoryStore:
        self.opened.append(project)
        if project in self.gates:
            assert self.gates[project].wait(BOUND_S)
        if project in self.errors:
            raise self.errors[project]
        return open_store(self.folder(project), project)


@pytest.fixture
def stores(tmp_path: Path) -> Stores:
    return Stores(tmp_path)


@pytest.fixture
def make(stores: Stores) -> Iterator[Callable[..., Catalog]]:
    made: list[Catalog] = []

    def make(**options: object) -> Catalog:
        made.append(Catalog(stores, **options))  # type: ignore[arg-type]  # any of its options
        return made[-1]

    yield make
    for gate in stores.gates.values():
        gate.set()
    for catalog in made:
        catalog.close()
    gc.unfreeze()


Make = Callable[..., Catalog]


def in_thread(work: Callable[[], object]) -> tuple[threading.Thread, list[object]]:
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(work())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def test_stores_load_in_the_background_in_the_order_given(make: Make, stores: Stores) -> None:
    catalog = make(loaders=1)
    catalog.start(["b", "a", "c"])

    assert catalog.wait(BOUND_S)
    assert stores.opened == ["b", "a", "c"]
    assert [store.project for name in "abc" if (store := catalog.loaded(name))] == ["a", "b", "c"]
    assert not catalog.is_loading


def test_a_request_opens_a_store_that_nobody_has_begun_to(make: Make, stores: Stores) -> None:
    stores.gates["slow"] = threading.Event()
    catalog = make(loaders=1)
    catalog.start(["slow", "later"])
    eventually(lambda: stores.opened == ["slow"])

    assert catalog.get("later").project == "later"
    assert catalog.loaded("slow") is None
    assert catalog.is_loading

    stores.gates["slow"].set()
    assert catalog.wait(BOUND_S)
    assert stores.opened == ["slow", "later"]


def test_requests_for_a_loading_store_wait_for_that_one_opening(make: Make, stores: Stores) -> None:
    stores.gates["p"] = threading.Event()
    catalog = make()
    catalog.start(["p"])
    eventually(lambda: stores.opened == ["p"])
    askers = [in_thread(lambda: catalog.get("p")) for _ in range(4)]

    stores.gates["p"].set()

    for thread, outcome in askers:
        thread.join(BOUND_S)
        assert outcome == [catalog.loaded("p")]
    assert stores.opened == ["p"]


def test_at_most_so_many_loaders_work_at_once(make: Make, stores: Stores) -> None:
    names = [f"p{number}" for number in range(6)]
    stores.gates = {name: threading.Event() for name in names}
    catalog = make(loaders=2)
    catalog.start(names)
    eventually(lambda: len(stores.opened) == 2)
    for finished, name in enumerate(names, start=1):
        assert len(stores.opened) <= finished + 1
        stores.gates[name].set()
        begun = min(finished + 2, len(names))
        # A default binds the number of this turn; mypy knows no type for it.
        eventually(lambda begun=begun: len(stores.opened) >= begun)  # type: ignore[misc]

    assert catalog.wait(BOUND_S)


def test_a_project_added_while_others_load_is_loaded_too(make: Make, stores: Stores) -> None:
    catalog = make(loaders=1)
    for number in range(50):
        catalog.start([f"p{number}"])

    assert catalog.wait(BOUND_S)
    assert all(catalog.loaded(f"p{number}") for number in range(50))


def test_a_registered_project_is_opened_when_asked_for_and_not_before(
    make: Make, stores: Stores
) -> None:
    catalog = make()
    catalog.register(["p", "q"])
    assert (catalog.projects, stores.opened) == (["p", "q"], [])

    catalog.get("q")

    assert stores.opened == ["q"]


def test_an_unknown_project_is_not_found(make: Make) -> None:
    with pytest.raises(NotFoundError, match="no project ghost"):
        make().get("ghost")


@pytest.mark.fault("F25")
def test_one_broken_store_of_twenty_leaves_nineteen_healthy(make: Make, stores: Stores) -> None:
    names = [f"p{number:02}" for number in range(20)]
    for name in names:
        store = open_store(stores.folder(name), name)
        remember(store, "one", f"text of {name}")
        store.close()
    broken = stores.folder("p07") / "entries.jsonl"
    broken.unlink()
    broken.mkdir()
    with pytest.raises(OSError, match="folder"):  # the control: unguarded, it ends the loading
        open_store(stores.folder("p07"), "p07")

    catalog = make()
    catalog.start(names)

    assert catalog.wait(BOUND_S)
    assert list(catalog.failures) == ["p07"]
    for name in names[:7] + names[8:]:
        store = catalog.get(name)
        assert text_of(store, "one") == f"text of {name}"
        remember(store, "two")
    with pytest.raises(UnavailableError, match=r"store p07 cannot be opened: .*is a folder"):
        catalog.get("p07")


@pytest.mark.fault("F25")
def test_a_store_whose_files_are_all_garbage_costs_no_other_store_anything(
    make: Make, stores: Stores
) -> None:
    for name in ("a", "b", "c"):
        store = open_store(stores.folder(name), name)
        remember(store, "one")
        store.close()
    for path in stores.folder("b").rglob("*"):
        if path.is_file():
            path.write_bytes(os.urandom(2000))

    catalog = make()
    catalog.start(["a", "b", "c"])

    assert catalog.wait(BOUND_S)
    assert "a" not in catalog.failures
    assert text_of(catalog.get("a"), "one") == text_of(catalog.get("c"), "one") == "a text"


@pytest.mark.attack(67)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(13, "Permission denied", "/srv/secret/entries.jsonl"), "Permission"),
        (ValueError("/srv/secret is odd"), "unexpected ValueError, see the log"),
        (UnavailableError("the schema is newer"), "the schema is newer"),
    ],
)
def test_the_reason_of_a_failure_names_no_folder(
    make: Make, stores: Stores, error: Exception, reason: str
) -> None:
    stores.errors["p"] = error
    catalog = make()
    catalog.register(["p"])

    with pytest.raises(UnavailableError, match=reason) as caught:
        catalog.get("p")

    assert "/srv" not in caught.value.message
    assert catalog.failures == {"p": caught.value.details["reason"]}


def test_a_failed_store_is_tried_again_after_a_pause(make: Make, stores: Stores) -> None:
    now = 0.0
    stores.errors["p"] = OSError(5, "Input/output error")
    catalog = make(retry_after_s=10.0, monotonic=lambda: now)
    catalog.register(["p"])
    for _ in range(3):
        with pytest.raises(UnavailableError):
            catalog.get("p")
    assert stores.opened == ["p"]

    stores.errors.clear()
    now = 10.0

    assert catalog.get("p").project == "p"
    assert stores.opened == ["p", "p"]
    assert catalog.failures == {}


def test_a_retry_asked_for_does_not_wait_for_the_pause(make: Make, stores: Stores) -> None:
    stores.errors["p"] = OSError(5, "Input/output error")
    catalog = make()
    catalog.register(["p"])
    with pytest.raises(UnavailableError):
        catalog.retry("p")
    stores.errors.clear()

    assert catalog.retry("p") is catalog.get("p") is catalog.retry("p")


def test_whoever_waited_for_a_store_that_failed_is_told_why(make: Make, stores: Stores) -> None:
    stores.gates["p"] = threading.Event()
    stores.errors["p"] = OSError(5, "Input/output error")
    catalog = make()
    catalog.start(["p"])
    eventually(lambda: stores.opened == ["p"])
    thread, outcome = in_thread(lambda: catalog.get("p"))

    stores.gates["p"].set()
    thread.join(BOUND_S)

    assert isinstance(outcome[0], UnavailableError)
    assert stores.opened == ["p"]


def test_an_interrupted_opening_leaves_nobody_waiting(make: Make, stores: Stores) -> None:
    stores.errors["p"] = KeyboardInterrupt()
    catalog = make()
    catalog.register(["p"])
    with pytest.raises(KeyboardInterrupt):
        catalog.get("p")

    with pytest.raises(UnavailableError, match="interrupted"):
        catalog.get("p")


def test_a_removed_project_is_closed_and_can_be_added_again(make: Make, stores: Stores) -> None:
    catalog = make()
    catalog.start(["p"])
    store = catalog.get("p")
    remember(store, "one")

    catalog.remove("p")
    catalog.remove("p")

    with pytest.raises(NotFoundError):
        catalog.get("p")
    with pytest.raises(UnavailableError, match="closed"):
        remember(store, "two")
    catalog.start(["p"])
    assert text_of(catalog.get("p"), "one") == "a text"


def test_removing_a_store_that_is_loading_waits_and_closes_it(make: Make, stores: Stores) -> None:
    stores.gates["p"] = threading.Event()
    closed: list[str] = []
    catalog = make(closer=lambda store: closed.append(store.project))
    catalog.start(["p"])
    eventually(lambda: stores.opened == ["p"])
    thread, _ = in_thread(lambda: catalog.remove("p"))

    stores.gates["p"].set()
    thread.join(BOUND_S)

    assert (closed, catalog.projects) == (["p"], [])


def test_a_store_that_opens_after_the_catalog_has_closed_is_closed_too(
    make: Make, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog_module, "CLOSE_WAIT_S", 0.0)
    stores.gates["p"] = threading.Event()
    is_closed = threading.Event()

    def close(store: MemoryStore) -> None:
        store.close()
        is_closed.set()

    catalog = make(closer=close)
    catalog.start(["p"])
    eventually(lambda: stores.opened == ["p"])
    catalog.close()
    stores.gates["p"].set()

    assert is_closed.wait(BOUND_S)
    assert catalog.projects == []
    assert catalog.loaded("p") is None


def test_close_closes_every_store_though_one_of_them_fails(
    make: Make, stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    closed: list[str] = []

    def close(store: MemoryStore) -> None:
        store.close()
        closed.append(store.project)
        if store.project == "b":
            raise ValueError("no")

    catalog = make(closer=close)
    catalog.start(["a", "b", "c"])
    assert catalog.wait(BOUND_S)
    with caplog.at_level(logging.ERROR):
        catalog.close()

    assert sorted(closed) == ["a", "b", "c"]
    assert "store not closed cleanly" in caplog.text
    with pytest.raises(UnavailableError, match="being closed"):
        catalog.get("a")


def test_close_begins_no_further_store(make: Make, stores: Stores) -> None:
    stores.gates["a"] = threading.Event()
    catalog = make(loaders=1)
    catalog.start(["a", "b"])
    eventually(lambda: stores.opened == ["a"])
    closing, _ = in_thread(catalog.close)
    asking, outcome = in_thread(lambda: catalog.get("a"))

    stores.gates["a"].set()
    closing.join(BOUND_S)
    asking.join(BOUND_S)

    assert stores.opened == ["a"]
    assert len(outcome) == 1


def test_the_collector_rests_while_stores_load_and_forgets_them_after(
    make: Make, stores: Stores
) -> None:
    gc.unfreeze()
    stores.gates["a"] = threading.Event()
    catalog = make()
    catalog.start(["a", "b"])
    eventually(lambda: stores.opened)
    assert not gc.isenabled()

    stores.gates["a"].set()

    assert catalog.wait(BOUND_S)
    eventually(gc.get_freeze_count)
    eventually(gc.isenabled)


def test_projects_are_ordered_by_last_use(tmp_path: Path) -> None:
    for name, own_time, file_time in (("old", 1000, 2000), ("new", 5000, 1000), ("mid", 0, 3000)):
        own = tmp_path / name / ".qms"
        own.mkdir(parents=True)
        for path, time in (
            (own / "journal.wal", own_time),
            (own.parent / "entries.jsonl", file_time),
        ):
            path.write_bytes(b"")
            os.utime(path, (time, time))
    (tmp_path / "empty").mkdir()

    folders = {name: tmp_path / name for name in ("old", "empty", "mid", "new", "absent")}

    assert by_last_use(folders)[:3] == ["new", "mid", "old"]
