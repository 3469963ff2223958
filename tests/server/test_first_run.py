"""The first run of a real server: its setup link, and a session over a real connection."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.asgi import Answer
from tests.support.server import ServerProcess, configured


def send(server: ServerProcess, method: str, path: str, content: Any = None, **head: str) -> Answer:
    connection = server.connect()
    try:
        body = None if content is None else msgspec.json.encode(content)
        headers = {"content-type": "application/json", "origin": server.url, **head}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read())
    finally:
        connection.close()


@pytest.mark.attack(76)
def test_the_setup_link_leads_a_person_in_once(tmp_path: Path) -> None:
    with ServerProcess(tmp_path) as server:
        said = dict(line.split(": ", 1) for line in server.lines)
        found = re.fullmatch(re.escape(server.url) + r"/#setup=([\w-]{43})", said["setup link"])
        assert found is not None

        signed_in = send(server, "POST", "/admin/session", {"setup": found[1]})
        assert signed_in.status == 200
        again = send(server, "POST", "/admin/session", {"setup": found[1]})
        assert again.status == 403

        cookie = signed_in.headers["set-cookie"].partition(";")[0]
        head = {"cookie": cookie, "x-csrf-token": signed_in.json["csrfToken"]}
        users = send(server, "GET", "/admin/users", cookie=cookie)
        assert [one["name"] for one in users.json["items"]] == ["admin"]
        made = send(server, "POST", "/admin/projects", {"slug": "website"}, **head)
        assert made.status == 200
        listed = send(server, "POST", "/api/v1/website/listEntries", {}, **head)
        assert (listed.status, listed.json["items"]) == (200, [])
        refused = send(server, "POST", "/api/v1/website/listEntries", {}, cookie=cookie)
        assert refused.status == 403
        assert found[1] not in server.errors
        assert found[1] not in (tmp_path / "logs" / "qms.log").read_text(encoding="utf-8")


def test_a_root_that_has_a_key_prints_no_setup_link(tmp_path: Path) -> None:
    with ServerProcess(configured(tmp_path)) as server:
        assert [line.partition(": ")[0] for line in server.lines] == ["listening"]
