"""State of one request that the guard and the handlers share through the ASGI scope."""

import msgspec

EXCHANGE = "qms.exchange"
"""The key of the `Exchange` in an ASGI scope."""


class Exchange(msgspec.Struct):
    """Facts about a request that are found while it is processed."""

    foreign_origin: str | None = None
    key_id: str | None = None
    has_stream: bool = False
    is_refused: bool = False
