from collections.abc import Iterator

import pytest

from tests.support.asgi import AsgiClient
from tests.support.house import House, failure, key_of

LIST = "/api/v1/projA/listEntries"
IMPORT = "/api/v1/projA/bulkImport"
JSON = ("content-type", "application/json")
KEY = ("x-api-key", key_of("writer"))


@pytest.mark.attack(24)
@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
        "text/json",
        "",
    ],
)
def test_another_media_type_than_json_is_refused(client: AsgiClient, media_type: str) -> None:
    headers = [KEY, ("content-type", media_type)]

    refusal = failure(client.request("POST", LIST, headers=headers, chunks=[b"{}"]))

    assert (refusal.status, refusal.code) == (415, "unsupportedMediaType")


def test_json_may_name_its_character_set(client: AsgiClient) -> None:
    headers = [KEY, ("content-type", "Application/JSON; charset=utf-8")]

    assert client.request("POST", LIST, headers=headers, chunks=[b"{", b"}"]).status == 200


@pytest.mark.attack(44)
def test_a_compressed_body_is_refused(client: AsgiClient) -> None:
    headers = [KEY, JSON, ("content-encoding", "gzip")]

    assert client.request("POST", LIST, headers=headers, chunks=[b"\x1f\x8b"]).status == 415


class Chunks:
    """Chunks that count how many of them were read."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.read = 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.read += 1
            assert self.read < 10_000
            yield b" " * self.size


@pytest.mark.attack(44)
def test_a_body_announced_too_large_is_refused_before_it_is_read(client: AsgiClient) -> None:
    chunks = Chunks(1)
    headers = [KEY, JSON, ("content-length", str(10**9))]

    refusal = failure(client.request("POST", LIST, headers=headers, chunks=chunks))

    assert (refusal.status, refusal.code) == (413, "tooLarge")
    assert refusal.details == {"field": "body", "limit": "bodyBytes", "maximum": 2 * 1024 * 1024}
    assert chunks.read == 0


@pytest.mark.attack(44)
def test_an_endless_body_is_refused_once_it_is_too_large(client: AsgiClient) -> None:
    chunks = Chunks(64 * 1024)

    answer = client.request("POST", LIST, headers=[KEY, JSON], chunks=chunks)

    assert failure(answer).code == "tooLarge"
    assert chunks.read == 33


def test_an_import_may_be_larger_than_other_requests(house: House) -> None:
    house.set_limits(bodyBytes=1000, importBytes=100_000)
    padding = " " * 2000

    def send(command: str) -> int:
        body = f'{{{padding}"entries":[]}}'.encode()
        path = f"/api/v1/projA/{command}"
        return house.client.post(path, body, key=key_of("writer")).status

    assert send("bulkImport") == 200
    assert send("listEntries") == 413
    refusal = failure(
        house.client.post("/api/v1/projA/bulkImport", b" " * 100_001, key=key_of("writer"))
    )
    assert (refusal.code, refusal.details["limit"]) == ("tooLarge", "importBytes")


def test_nobody_without_a_key_makes_the_server_read_a_body(client: AsgiClient) -> None:
    chunks = Chunks(1)

    assert client.request("POST", LIST, headers=[JSON], chunks=chunks).status == 401
    assert chunks.read == 0


@pytest.mark.attack(46)
@pytest.mark.parametrize(
    "body",
    [
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}' + b',{"id":{}}' * 10_000 + b"]",
        b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
        b'{"method":"tools/list"}',
    ],
)
def test_json_rpc_is_no_request_of_a_command(client: AsgiClient, body: bytes) -> None:
    refusal = failure(client.post(LIST, body, key=key_of("reader")))

    assert (refusal.status, refusal.code) == (400, "invalidInput")


@pytest.mark.attack(43)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"text"',
        b"null",
        b"{} {}",
        b'{"sort":"title","sort":"created"}',
        b'{"filter":{"minConfidence":NaN}}',
        b'{"filter":{"minConfidence":Infinity}}',
        b'{"filter":{"minConfidence":1e999}}',
        b'{"sort":"\xff"}',
        b'{"sort":"\\ud800"}',
        b'{"filter":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"filter":{"metadata":' + b'{"a":' * 70 + b"1" + b"}" * 70 + b"}}",
        b'{"page":{"size":' + b"9" * 5000 + b"}}",
    ],
)
def test_a_body_that_is_not_one_proper_json_object_is_invalid(
    client: AsgiClient, body: bytes
) -> None:
    refusal = failure(client.post(LIST, body, key=key_of("reader")))

    assert (refusal.status, refusal.code) == (400, "invalidInput")
