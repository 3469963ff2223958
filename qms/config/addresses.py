"""Parses and checks the URLs, hosts and origins of the configuration."""

import ipaddress
import re
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

import msgspec

_HOST_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?")
_UNPRINTABLE = re.compile(r"[\x00-\x20\x7f\\]")


class ListenAddress(msgspec.Struct, frozen=True):
    """One address to listen on; port 0 lets the system choose."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """Return the address as a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def is_tls(self) -> bool:
        """Say whether the address is served with a certificate."""
        return self.scheme == "https"

    @property
    def is_loopback(self) -> bool:
        """Say whether only this machine can reach the address."""
        return is_loopback(self.host)


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Say whether `host` is this machine itself; a name other than localhost never counts."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def parse_listen(text: str) -> ListenAddress:
    """Return the address that a `listen` URL names.

    Raises:
        ValueError: it is not scheme, host and port; the message says what is wrong.
    """
    parts = _split(text)
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ValueError("must have scheme, host and port only")
    if parts.port is None:
        raise ValueError("needs a port, as in http://127.0.0.1:5080")
    assert parts.hostname is not None
    return ListenAddress(parts.scheme, parts.hostname, parts.port)


def check_origin(text: str) -> None:
    """Raise `ValueError` unless `text` is what a browser sends as Origin."""
    parts = _split(text)
    if parts.path or parts.query or parts.fragment:
        raise ValueError("must have scheme, host and port only, as in https://memory.example")


def check_base_url(text: str) -> None:
    """Raise `ValueError` unless `text` is an http or https URL to which paths can be added."""
    parts = _split(text)
    if parts.query or parts.fragment:
        raise ValueError("may not have a query or a fragment")


def check_host(text: str) -> None:
    """Raise `ValueError` unless `text` is a host name or address, with or without a port."""
    if "/" in text:
        raise ValueError("must be a host such as memory.example, without scheme and path")
    _split(f"http://{text}")


def _split(text: str) -> SplitResult:
    if _UNPRINTABLE.search(text):
        raise ValueError("may not contain spaces, backslashes or control characters")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"is not a URL: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError("must begin with http:// or https://")
    if "@" in parts.netloc:
        raise ValueError("may not contain a user name or password")
    if not parts.hostname or not _is_host(parts.hostname):
        raise ValueError("has no valid host; to listen on every address use 0.0.0.0 or [::]")
    if port is None and parts.netloc.endswith(":"):
        raise ValueError("has an empty port")
    return parts


def _is_host(host: str) -> bool:
    if ":" in host:
        try:
            ipaddress.IPv6Address(host)
        except ValueError:
            return False
        return True
    return _HOST_NAME.fullmatch(host) is not None
