"""What every test can rely on."""

import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from qms.inference import onnx_embedder, onnx_files
from qms.resources import find_resource
from tests.support.asgi import AsgiClient
from tests.support.house import Clock, Door, House
from tests.support.programs import is_ci, require

# How long an example takes depends on the machine, and is no reason to fail.
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("house")

EntryMaker = Callable[..., dict[str, Any]]


def pytest_configure() -> None:
    """Make an `open` without encoding a warning, and so an error, in the worker processes."""
    os.environ["PYTHONWARNDEFAULTENCODING"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; fail it in CI, where nothing may be missing."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            require(program, in_ci=is_ci(os.environ))


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
