"""The admin page as the server serves it: its own files, compressed, revalidated, nothing else."""

import gzip
from pathlib import Path

import pytest

from qms.http.static_files import FOLDER, IMMUTABLE, SERVED
from qms.resources import find_resource
from tests.support.asgi import AsgiClient

FILES = sorted(
    path.relative_to(find_resource(FOLDER)).as_posix()
    for path in find_resource(FOLDER).rglob("*")
    if path.suffix in SERVED
)


def source(name: str) -> bytes:
    return (find_resource(FOLDER) / name).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_served_to_everybody(client: AsgiClient, name: str) -> None:
    answer = client.request("GET", f"/static/{name}")

    assert (answer.status, answer.body) == (200, source(name))
    kind = {"js": "javascript", "css": "css", "svg": "svg", "html": "html"}[name.rpartition(".")[2]]
    assert kind in answer.headers["content-type"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_page_is_at_the_top(client: AsgiClient) -> None:
    answer = client.request("GET", "/")

    assert answer.body == source("index.html")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_whoever_takes_gzip_gets_it(client: AsgiClient) -> None:
    for accepted, is_compressed in [("br, gzip", True), ("gzip;q=0", False), ("identity", False)]:
        answer = client.request("GET", "/static/app.css", headers=[("Accept-Encoding", accepted)])
        content = gzip.decompress(answer.body) if is_compressed else answer.body
        assert ("content-encoding" in answer.headers) is is_compressed
        assert content == source("app.css")
        assert answer.headers["vary"] == "Accept-Encoding"


def test_what_a_browser_has_already_is_not_sent_again(client: AsgiClient) -> None:
    first = client.request("GET", "/")

    again = client.request("GET", "/", headers=[("If-None-Match", first.headers["etag"])])

    assert (again.status, again.body) == (304, b"")
    assert first.headers["cache-control"] == "no-cache"


def test_third_party_files_are_kept_for_good(client: AsgiClient) -> None:
    name = next(name for name in FILES if name.startswith("vendor/"))

    assert client.request("GET", f"/static/{name}").headers["cache-control"] == IMMUTABLE


@pytest.mark.attack("34")
@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fQuickMemoryServer.toml",
        "/static/../QuickMemoryServer.toml",
        "/static/%2e%2e/pyproject.toml",
        "/static//etc/passwd",
        "/static/README.md",
        "/static/vendor/manifest.json",
        "/static/js",
        "/static/",
    ],
)
def test_nothing_else_can_be_asked_for(client: AsgiClient, path: str) -> None:
    answer = client.request("GET", path)

    assert answer.status == 404
    assert answer.json["error"]["code"] == "notFound"


def test_the_page_names_only_files_that_are_there() -> None:
    page = source("index.html").decode()
    named = [part.split('"')[0] for part in page.split('="/static/')[1:]]

    assert named
    assert set(named) <= set(FILES)


def test_every_import_of_a_module_leads_to_a_file() -> None:
    folder = find_resource(FOLDER)
    for path in (folder / "js").rglob("*.js"):
        for line in path.read_text(encoding="utf-8").splitlines():
            if 'from "' in line or 'import "' in line:
                target = line.rpartition(' "')[2].rstrip('";')
                assert (path.parent / target).resolve().is_relative_to(folder), line
                assert Path(path.parent / target).is_file(), line
