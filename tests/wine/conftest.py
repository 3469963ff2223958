"""One Windows machine, and the setup programs of three versions, for all tests of this folder."""

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wine.machine import WindowsMachine
from tests.wine.payloads import Workshop

PROGRAMS = ("wine", "makensis", "x86_64-w64-mingw32-gcc")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test here: it needs wine and takes minutes."""
    if sys.platform == "win32":
        return  # inside of it
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.wine)
            item.add_marker(pytest.mark.needs(*PROGRAMS))
            item.add_marker(pytest.mark.timeout(2400))


@pytest.fixture(scope="session")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def test_packages(workshop: Workshop) -> Path:
    return workshop.test_packages()


@pytest.fixture(scope="session")
def machine(
    workshop: Workshop, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WindowsMachine]:
    prefix = tmp_path_factory.mktemp("wine") / "prefix"
    booted = WindowsMachine(prefix, workshop.first.tree / "python" / "python.exe")
    yield booted
    booted.close()


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port
