"""Clients of the application in process."""

from collections.abc import Callable

import pytest

from tests.support.house import House
from tests.support.mcp import McpClient, SessionClient

ClientMaker = Callable[..., McpClient]
SessionMaker = Callable[..., SessionClient]


@pytest.fixture
def mcp(house: House) -> ClientMaker:
    """Make a client of the revision without sessions: user, project, query."""

    def make(user: str = "admin", project: str = "projA", query: str = "") -> McpClient:
        return McpClient(house.client, user, project, query=query)

    return make


@pytest.fixture
def session(house: House) -> SessionMaker:
    """Make a client with a session: user, project, query, revision."""

    def make(user: str = "admin", project: str = "projA", **more: str) -> SessionClient:
        return SessionClient(house.client, user, project, **more)

    return make
