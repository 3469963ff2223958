"""A real browser in front of a real server: what every test of the admin page works with."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.person import Person
from tests.browser.stores import empty
from tests.support.house import key_of
from tests.support.server import Client, ServerProcess, configured

WIDE = (1440, 900)
ZONE = "Europe/Berlin"
LIMIT_MS = 30_000
"""The bound of every wait; a machine that is busy with other things is slow."""

expect.set_options(timeout=LIMIT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark everything here, so that it runs one after the other and only where it is asked for."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.needs("chromium"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    root = configured(tmp_path_factory.mktemp("page") / "root")
    with ServerProcess(root, key=key_of("admin")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    # As root, in a container, Chromium has no sandbox of its own to offer.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=arguments)
        yield opened
        opened.close()


class People:
    """Makes persons, each with a browser profile of their own, and looks at what they left."""

    def __init__(self, browser: Browser, server: ServerProcess) -> None:
        self._browser = browser
        self._server = server
        self._made: list[Person] = []

    def __call__(
        self, *, size: tuple[int, int] = WIDE, dark: bool = False, url: str | None = None
    ) -> Person:
        """Return somebody who has not signed in yet."""
        context = self._browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            timezone_id=ZONE,
            locale="en-GB",
        )
        context.set_default_timeout(LIMIT_MS)
        person = Person(context, url or self._server.url)
        self._made.append(person)
        return person

    def signed_in(
        self, user: str = "admin", *, size: tuple[int, int] = WIDE, dark: bool = False
    ) -> Person:
        """Return somebody who has signed in with the key of a user."""
        person = self(size=size, dark=dark)
        person.sign_in(key_of(user))
        return person

    def leave(self) -> None:
        """Close every profile and check that none of them saw anything out of order."""
        for person in self._made:
            person.context.close()
        for person in self._made:
            person.check_order()


@pytest.fixture
def people(browser: Browser, server: ServerProcess) -> Iterator[People]:
    made = People(browser, server)
    yield made
    made.leave()


@pytest.fixture
def admin(people: People) -> Person:
    return people.signed_in("admin")


@pytest.fixture
def store(server: ServerProcess) -> Iterator[Client]:
    """Return an admin's client of a project that is empty."""
    with server.client("projA") as client:
        empty(client)
        yield client
