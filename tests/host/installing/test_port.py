"""Options of the setup program that make no sense are refused before anything is done."""

import pytest

from qms.domain.errors import InvalidInputError
from qms.host.installing.__main__ import _port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "http", "٣", "5080 /X"])
def test_what_is_no_port_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="not a port"):
        _port(text)


def test_a_port_is_a_number_and_none_is_none() -> None:
    assert (_port("5081"), _port("")) == (5081, None)
