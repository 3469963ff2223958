import pytest

from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of


@pytest.mark.attack(29)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/mcp/projA",
        "/.well-known/",
    ],
)
def test_well_known_addresses_are_not_found_in_json(
    client: AsgiClient, method: str, path: str
) -> None:
    answer = client.request(method, path)

    assert (answer.status, failure(answer).code) == (404, "notFound")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/static", "/api", "/api/v1/projA", "/api/v1/projA/listEntries/", "/health/"],
)
def test_an_unknown_address_is_not_found_in_json(client: AsgiClient, path: str) -> None:
    refusal = failure(client.request("GET", path))

    assert (refusal.status, refusal.code) == (404, "notFound")


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/v1/projA/listEntries"), ("DELETE", "/health"), ("POST", "/health")],
)
def test_another_method_is_refused_in_json(client: AsgiClient, method: str, path: str) -> None:
    answer = client.request(method, path)

    assert (answer.status, failure(answer).code) == (405, "methodNotAllowed")
    assert answer.headers["allow"]


def test_a_command_that_needs_ram_alone_runs_inline_once_its_stores_are_loaded(
    house: House,
) -> None:
    def runs_inline(project: str, command: str = "getEntry") -> bool:
        who = house.gate.authenticate(key_of("reader"))
        return house.gate.admit(who, project, command).runs_inline

    assert not runs_inline("projA")

    house.store("projA")
    assert not runs_inline("projA")

    house.store("shared")
    assert runs_inline("PROJA")
    assert not runs_inline("projA", "upsertEntry")
    assert not runs_inline("projA", "noSuchCommand")
    house.store("closed")
    assert not runs_inline("closed")
    assert not runs_inline("absent")


def test_answers_inline_and_from_a_thread_are_the_same(house: House) -> None:
    door = house.door("writer")
    door("upsertEntry", entry={"id": "a", "kind": "note", "body": "x"})
    from_thread = door.send("getEntry", {"id": "a"})
    house.store("shared")

    inline = door.send("getEntry", {"id": "a"})

    assert (inline.status, inline.body) == (from_thread.status, from_thread.body)
    assert (
        house.client.post("/api/v1/absent/getEntry", {"id": "a"}, key=key_of("writer")).status
        == 404
    )
