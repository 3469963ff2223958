"""URLs, hosts and origins are read strictly."""

import pytest

from qms.config.addresses import (
    ListenAddress,
    check_base_url,
    check_host,
    check_origin,
    is_loopback,
    parse_listen,
)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:5080", ListenAddress("http", "127.0.0.1", 5080)),
        ("https://[::1]:443/", ListenAddress("https", "::1", 443)),
        ("http://localhost:0", ListenAddress("http", "localhost", 0)),
        ("HTTP://Memory.Example:80", ListenAddress("http", "memory.example", 80)),
    ],
)
def test_a_listen_url_is_scheme_host_and_port(url: str, address: ListenAddress) -> None:
    assert parse_listen(url) == address
    assert parse_listen(address.url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:5080",
        "ftp://127.0.0.1:21",
        "http://127.0.0.1",
        "http://127.0.0.1:",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://*:5080",
        "http://:5080",
        "http://a b:1",
        "http://user:pw@host:1",
        "http://host:1/path",
        "http://host:1?x",
        "http://[::zz]:1",
        "http://host\n:1",
        "http://host\\x:1",
    ],
)
def test_a_malformed_listen_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_listen(url)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost", "::ffff:127.0.0.1"])
def test_loopback_is_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "localhost.evil", "192.168.1.2", "memory"])
def test_what_others_may_reach_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "host", ["memory.example", "memory.example:8443", "[::1]:5080", "10.0.0.1"]
)
def test_a_host_may_have_a_port(host: str) -> None:
    check_host(host)


@pytest.mark.parametrize("host", ["", "*", "http://x", "x/y", "a@b", "a b", "*.example"])
def test_a_malformed_host_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        check_host(host)


@pytest.mark.parametrize("origin", ["null", "*", "https://x/", "https://x/y", "x", "file://x"])
def test_an_origin_is_nothing_but_an_origin(origin: str) -> None:
    check_origin("https://tools.example:8443")
    with pytest.raises(ValueError, match=r"\w"):
        check_origin(origin)


def test_a_base_url_may_have_a_path_but_no_password() -> None:
    check_base_url("https://api.example/v1")
    for url in ("https://a:b@api.example", "https://api.example?x=1", "api.example"):
        with pytest.raises(ValueError, match=r"\w"):
            check_base_url(url)
