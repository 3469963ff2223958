"""What every test can rely on."""

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from qms.memory.struct_types import prepare_types
from qms.models import onnx_embedder, onnx_files
from qms.resources import find_resource
from tests.support.asgi import AsgiClient
from tests.support.environment import Environment, kept_environment
from tests.support.house import Clock, Door, House
from tests.support.programs import is_ci, require
from tests.support.worker_memory import watch_this_process

# How long an example takes depends on the machine, and is no reason to fail.
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("house")

EntryMaker = Callable[..., dict[str, Any]]


def pytest_configure() -> None:
    """Make an `open` without encoding a warning, and prepare types before any thread uses them."""
    prepare_types()
    os.environ["PYTHONWARNDEFAULTENCODING"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; fail it in CI, where nothing may be missing."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            require(program, in_ci=is_ci(os.environ))


_watch = watch_this_process()


@pytest.hookimpl(trylast=True)  # after fixtures have closed what they opened
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Fail when a module ends and this process has taken more memory than tests may."""
    module = item.nodeid.partition("::")[0]
    _watch.note(module)
    is_last = nextitem is None or nextitem.nodeid.partition("::")[0] != module
    if is_last and (complaint := _watch.complaint()) is not None:
        pytest.fail(complaint, pytrace=False)


@pytest.fixture(autouse=True, scope="session")
def one_shipped_model() -> Iterator[None]:
    """Open the shipped model once: the servers of a process share it, as their requests would."""
    shipped = find_resource("models") / "embeddings.onnx"
    kept = lru_cache(onnx_files.open_session)

    def open_session(path: Path, *, threads: int = 0) -> Any:
        opens = kept if path == shipped else onnx_files.open_session
        return opens(path, threads=threads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(onnx_embedder, "open_session", open_session)
        yield


@pytest.fixture
def environment() -> Iterator[Environment]:
    """The variables of this process, put back after the test."""
    with kept_environment() as variables:
        yield variables


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house(tmp_path: Path, clock: Clock) -> Iterator[House]:
    built = House(tmp_path, clock)
    yield built
    built.close()


@pytest.fixture
def client(house: House) -> AsgiClient:
    return house.client


@pytest.fixture
def as_reader(house: House) -> Door:
    return house.door("reader")


@pytest.fixture
def as_writer(house: House) -> Door:
    return house.door("writer")


@pytest.fixture
def as_curator(house: House) -> Door:
    return house.door("curator")


@pytest.fixture
def as_admin(house: House) -> Door:
    return house.door("admin")


@pytest.fixture
def entry() -> EntryMaker:
    """Make the entry of a request; every one differs from the others unless told otherwise."""
    count = 0

    def make(**overrides: Any) -> dict[str, Any]:
        nonlocal count
        count += 1
        made = {"kind": "fact", "title": f"Fact {count}", "body": {"statement": f"It is {count}"}}
        return {**made, **overrides}

    return make
