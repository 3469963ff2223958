"""The client of a language model, against an endpoint with every bad habit."""

import socket
from collections.abc import Iterator

import pytest

from qms.memory.errors import UnavailableError
from qms.models.chat_client import MAX_ANSWER_BYTES, MAX_TEXT_CHARACTERS, ChatClient
from tests.support.chat_endpoint import Endpoint, Step, chat_endpoint, completion


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with chat_endpoint() as opened:
        yield opened


def client(endpoint: Endpoint, *, timeout_s: float = 20.0, key: str | None = None) -> ChatClient:
    return ChatClient(endpoint.url, "small-model", api_key=key, timeout_s=timeout_s)


def test_an_answer_is_what_the_model_says(endpoint: Endpoint) -> None:
    endpoint.script = ["hello"]

    answer = client(endpoint, key="secret-1").complete("be brief", "hi")

    assert answer == "hello"
    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.headers[0]["authorization"] == "Bearer secret-1"
    (request,) = endpoint.requests
    assert request["model"] == "small-model"
    assert request["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "hi"},
    ]


def test_without_a_key_none_is_sent(endpoint: Endpoint) -> None:
    endpoint.script = ["hello"]

    client(endpoint).complete("", "hi")

    assert "authorization" not in endpoint.headers[0]


def test_a_long_or_broken_text_is_made_fit(endpoint: Endpoint) -> None:
    endpoint.script = ["ok"]

    client(endpoint).complete("", "\ud800" + "x" * 100_000)

    assert endpoint.texts[0] == "?" + "x" * (MAX_TEXT_CHARACTERS - 1)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (500, "status 500"),
        (404, "status 404"),
        (429, "status 429"),
        (b"", "not a chat completion"),
        (b"<html>", "not a chat completion"),
        (b'{"choices":[]}', "not a chat completion"),
        (b'{"choices":[{"message":{"content":null}}]}', "not a chat completion"),
        (b"[" * 100_000, "not a chat completion"),
        (completion("x" * MAX_ANSWER_BYTES), "larger than 1 MB"),
        ({"cut": True}, "not a chat completion"),
    ],
)
def test_an_answer_that_is_none_is_a_refusal(endpoint: Endpoint, step: Step, said: str) -> None:
    endpoint.script = [step]

    with pytest.raises(UnavailableError, match=said):
        client(endpoint).complete("", "hi")


@pytest.mark.parametrize("order", ["hang", "drip"])
def test_a_slow_endpoint_is_left_when_the_time_is_over(endpoint: Endpoint, order: str) -> None:
    endpoint.script = [{order: True}]

    with pytest.raises(UnavailableError, match=r"within 0\.2 s"):
        client(endpoint, timeout_s=0.2).complete("", "hi")


def test_the_key_follows_no_redirect(endpoint: Endpoint) -> None:
    with chat_endpoint() as elsewhere:
        elsewhere.script = ["caught"]
        endpoint.script = [{"redirect": elsewhere.url + "/chat/completions"}]

        with pytest.raises(UnavailableError, match="status 307"):
            client(endpoint, key="secret-1").complete("", "hi")

        assert elsewhere.requests == []


def test_an_endpoint_that_is_not_there_is_a_refusal_without_the_address() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    with pytest.raises(UnavailableError) as refused:
        ChatClient(f"http://127.0.0.1:{port}", "m").complete("", "hi")

    assert "refused" in refused.value.message
    assert str(port) not in refused.value.message
