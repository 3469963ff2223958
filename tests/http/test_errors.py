import logging
from typing import Any

import pytest

from qms.app.routes import app
from qms.commands.call import Call
from qms.commands.command import Command
from qms.commands.requests import NoArguments
from qms.memory.access import AccessTier
from qms.memory.errors import RateLimitedError
from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of


def fail_with(error: Exception) -> Command:
    """Return a command that raises."""

    def handler(_call: Call, _request: NoArguments) -> Any:
        raise error

    return Command(
        name="fail",
        toolset="core",
        least=AccessTier.READER,
        request=NoArguments,
        response=NoArguments,
        handler=handler,
        help="Fail",
        example={},
    )


def answer_to(house: House, error: Exception, *, query: str = "") -> Any:
    services = house.gate_of((fail_with(error),))
    client = AsgiClient(app(services))
    try:
        return client.post(f"/api/v1/projA/fail{query}", {}, key=key_of("reader"))
    finally:
        client.close()


@pytest.mark.attack(67)
def test_the_unexpected_is_answered_with_an_error_id_alone_and_logged_with_it(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    secret = f"{house.root}/secret body"

    with caplog.at_level(logging.ERROR):
        answer = answer_to(house, RuntimeError(secret))

    refusal = failure(answer)
    assert (refusal.status, refusal.code) == (500, "internal")
    error_id = refusal.details["errorId"]
    assert refusal.details == {"errorId": error_id}
    assert refusal.message == f"something unexpected happened: look for {error_id} in the log"
    (record,) = [one for one in caplog.records if one.getMessage() == "request failed"]
    assert record.__dict__["errorId"] == error_id
    assert record.exc_info


@pytest.mark.attack(5)
def test_the_unexpected_is_logged_without_the_query_of_the_request(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        answer_to(house, RuntimeError("unexpected"), query="?key=visible-key-4711")

    (record,) = [one for one in caplog.records if one.getMessage() == "request failed"]
    assert record.__dict__["path"] == "/api/v1/projA/fail"
    assert [one for one in caplog.records if "4711" in str(vars(one))] == []


def test_a_rate_limit_says_when_to_come_back(house: House) -> None:
    answer = answer_to(house, RateLimitedError("too many", retryAfterSeconds=7))

    assert (answer.status, answer.headers["retry-after"]) == (429, "7")


@pytest.mark.attack(67)
def test_no_error_names_a_path_of_the_machine(house: House) -> None:
    house.entries_file("projB").mkdir(parents=True)
    door = house.door("admin")

    for answer in (
        door.at("projB").send("listEntries", {}),
        door.send("getEntry", {"id": "absent"}),
        door.send("nothing", {}),
        door.send("upsertEntry", {"entry": {"kind": "x"}}),
        door.send("bulkImport", {"entries": [{"kind": "x"}]}),
        door.send("acceptHeld", {}),
    ):
        assert str(house.root).encode() not in answer.body
        assert b"Traceback" not in answer.body


def test_a_client_that_leaves_while_it_sends_is_no_error_of_the_server(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    headers = [("content-type", "application/json"), ("x-api-key", key_of("reader"))]

    house.client.request(
        "POST", "/api/v1/projA/listEntries", headers=headers, chunks=[b"{"], leaves=True
    )

    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
