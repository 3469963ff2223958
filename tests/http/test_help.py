"""Help, schema and the OpenAPI document, without a key."""

from typing import Any

import msgspec
import pytest

from qms.app.table import TABLE
from qms.commands.command import Route
from qms.commands.requests import Request
from qms.features.health.manual import PAGE_URLS, Page
from qms.http.openapi import error_statuses, openapi_document
from qms.memory.entry import FIELD_ORDER
from tests.house.pages import read
from tests.support.asgi import AsgiClient
from tests.support.house import Door, House

URLS = ["/docs/schema", "/openapi.json", *PAGE_URLS.values()]


@pytest.mark.parametrize("url", URLS)
def test_a_document_is_cached_and_not_sent_again(client: AsgiClient, url: str) -> None:
    first = client.request("GET", url)
    etag = first.headers["etag"]

    assert first.status == 200
    assert first.headers["cache-control"] == "public, max-age=3600"
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.request("GET", url, headers=[("If-None-Match", known)])
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    assert client.request("GET", url, headers=[("If-None-Match", '"other"')]).status == 200


@pytest.mark.parametrize("page", Page)
def test_a_page_is_the_file_of_the_repository(client: AsgiClient, page: Page) -> None:
    answer = client.request("GET", PAGE_URLS[page])

    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.body.decode() == read(page)


def test_the_usage_page_is_a_command_as_well(client: AsgiClient, as_reader: Door) -> None:
    expected = client.request("GET", "/docs/agent-usage").body.decode()

    assert as_reader("getUsageDoc") == as_reader("getUsageDoc", format="markdown")
    assert as_reader("getUsageDoc") == {"content": expected}
    assert as_reader.fails("getUsageDoc", format="html").details["field"] == "format"


def test_describe_says_where_everything_is(client: AsgiClient, as_reader: Door) -> None:
    answer = as_reader("describe")

    assert (answer["schemaUrl"], answer["docUrl"]) == ("/docs/schema", "/docs/agent-usage")
    assert answer["helpUrls"] == ["/admin/help/agent", "/admin/help/end-user"]
    for url in (answer["schemaUrl"], answer["docUrl"], *answer["helpUrls"]):
        assert client.request("GET", url).status == 200


def test_the_schema_has_an_entry_every_request_and_when_it_was_made(house: House) -> None:
    schema = house.client.request("GET", "/docs/schema").json

    assert schema["generatedUtc"] == "2026-03-01T12:00:00.000Z"
    assert set(schema["commands"]) == {command.name for command in TABLE}
    assert schema["$defs"]["MemoryEntry"] == {"$ref": "#/$defs/Entry"}
    assert set(schema["$defs"]["Entry"]["properties"]) == set(FIELD_ORDER)
    assert "query" in schema["$defs"]["SearchRequest"]["properties"]
    assert unresolved(schema, schema) == []


def test_the_openapi_document_has_an_operation_for_every_command(client: AsgiClient) -> None:
    document = client.request("GET", "/openapi.json").json

    assert document["openapi"].startswith("3.1")
    assert {path for path in document["paths"] if path.startswith("/api/")} == {
        f"/api/v1/{{project}}/{command.name}" for command in TABLE
    }
    operation = document["paths"]["/api/v1/{project}/searchEntries"]["post"]
    assert set(operation["responses"]["200"]["content"]) == {"application/json", "text/plain"}
    assert set(operation["responses"]) == {"200", *map(str, error_statuses())}
    assert {"bearer": []} in operation["security"]
    assert unresolved(document, document) == []


class _Rename(Request, frozen=True):
    """Which user, and the new name."""

    user: str
    name: str
    if_version: str | None = None


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_a_row_with_a_route_has_its_arguments_in_path_query_and_body(method: str) -> None:
    row = msgspec.structs.replace(
        TABLE[0], name="rename", request=_Rename, route=Route(method, "/admin/users/{user}")
    )

    operation = openapi_document([row])["paths"]["/admin/users/{user}"][method.lower()]

    places = {one["name"]: (one["in"], one["required"]) for one in operation["parameters"]}
    assert places.pop("user") == ("path", True)
    if method == "PUT":
        body = operation["requestBody"]["content"]["application/json"]["schema"]
        assert (set(body["properties"]), body["required"]) == ({"name", "ifVersion"}, ["name"])
    else:
        assert places == {"name": ("query", True), "ifVersion": ("query", False)}
    assert {"session": [], "csrf": []} in operation["security"]


def unresolved(part: Any, document: dict[str, Any]) -> list[str]:
    """Return the references inside a document that lead nowhere."""
    if isinstance(part, dict):
        found = [one for value in part.values() for one in unresolved(value, document)]
        place = part.get("$ref")
        return [*found, place] if isinstance(place, str) and not _leads(place, document) else found
    if isinstance(part, list):
        return [one for value in part for one in unresolved(value, document)]
    return []


def _leads(place: str, document: Any) -> bool:
    for key in place.removeprefix("#/").split("/"):
        document = document.get(key, {})
    return bool(document)
