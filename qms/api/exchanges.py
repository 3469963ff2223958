"""One request and its answer, as far as the parts of the HTTP layer must tell each other."""

import msgspec

EXCHANGE = "qms.exchange"
"""Where a scope holds its `Exchange`."""


class Exchange(msgspec.Struct):
    """What is found out about a request on its way in."""

    foreign_origin: str | None = None
    key_id: str | None = None
    has_stream: bool = False
    is_refused: bool = False
