"""What a search says of itself: which kind it was, and which of its stages did not run."""

from enum import StrEnum

import msgspec


class Mode(StrEnum):
    """What a search worked with."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    KEYWORD_HASH = "keyword+hash"


class Skipped(msgspec.Struct, frozen=True, rename="camel"):
    """A stage that did not run, and why."""

    stage: str
    reason: str
