"""The outcome types of a search: its mode, and the stages that were skipped."""

from enum import StrEnum

import msgspec


class Mode(StrEnum):
    """The indexes and models that a search used."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    KEYWORD_HASH = "keyword+hash"


class Skipped(msgspec.Struct, frozen=True, rename="camel"):
    """A stage that did not run, and why."""

    stage: str
    reason: str
