"""`memoryctl open`: a link that signs the caller in once."""

import http.client
import re
from urllib.parse import urlsplit

import msgspec
import pytest

from tests.cli.conftest import Terminal
from tests.support.asgi import Answer
from tests.support.environment import Environment


def sign_in(ctl: Terminal, token: str) -> Answer:
    assert ctl.server is not None
    parts = urlsplit(ctl.server.url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    try:
        head = {"content-type": "application/json", "origin": ctl.server.url}
        connection.request("POST", "/admin/session", msgspec.json.encode({"setup": token}), head)
        answer = connection.getresponse()
        return Answer(answer.status, dict(answer.getheaders()), answer.read())
    finally:
        connection.close()


def test_the_link_signs_the_caller_in_once(server: Terminal) -> None:
    link = server.ok("open", "--no-browser").line
    token = link.partition("#setup=")[2]

    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#setup=[\w-]{43}", link)
    answer = sign_in(server, token)
    assert (answer.status, answer.json["user"]) == (200, "admin")
    assert sign_in(server, token).status == 403


def test_each_call_makes_a_link_of_its_own(server: Terminal) -> None:
    links = [server.ok("open", "--json").json["url"] for _ in range(2)]

    assert [sign_in(server, one.partition("#setup=")[2]).status for one in links] == [200, 200]


def test_a_browser_is_opened_where_there_is_a_display(
    server: Terminal, environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        environment.pop(name, None)

    server.ok("open")
    assert opened == []
    environment["DISPLAY"] = ":0"
    link = server.ok("open").line

    assert opened == [link]


def test_a_revoked_key_takes_its_link_along(server: Terminal, environment: Environment) -> None:
    made = server.ok("keys", "create", "bob", "--tier", "reader", "--json").json
    environment["QMS_KEY"], admin = made["key"], environment["QMS_KEY"]
    token = server.ok("open", "--json").json["url"].partition("#setup=")[2]
    environment["QMS_KEY"] = admin
    server.ok("keys", "revoke", made["id"], "--yes")

    assert sign_in(server, token).status == 401


def test_without_a_server_it_says_how_to_start_one(files: Terminal) -> None:
    refused = files("open")

    assert refused.code == 6
    assert "error: no server is running on this root" in refused.err
    assert "hint: start it with `qms serve`" in refused.err
