"""The API console: a command is run, and its request is shown as a curl line that works."""

import os
import subprocess

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import People
from tests.browser.person import Person
from tests.browser.stores import remember
from tests.support.house import key_of
from tests.support.server import Client

LIMIT_S = 30


@pytest.mark.needs("curl")
def test_a_command_runs_here_and_by_its_curl_line(admin: Person, store: Client) -> None:
    remember(store, "It's counted")
    admin.visit("API console")
    admin.field("Command").select_option("stats")
    admin.press("Run")

    answer = admin.page.get_by_label("The answer")
    expect(answer).to_contain_text('"entries": 1')
    line = admin.page.get_by_label("The curl line").inner_text()
    assert key_of("admin") not in line
    run = subprocess.run(
        ["sh", "-c", line],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env=os.environ | {"QMS_KEY": key_of("admin")},
        timeout=LIMIT_S,
    )
    assert '"entries":1' in run.stdout


def test_a_refusal_is_shown_as_the_server_wrote_it(people: People, store: Client) -> None:
    person = people.signed_in("reader")
    person.expects("status of 40[03]")

    person.open("#/api/projA?command=upsertEntry")
    person.press("Run")

    expect(person.page.get_by_label("The answer")).to_contain_text('"code": "notAllowed"')
