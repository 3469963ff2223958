"""What the fault tests share."""

from tests.support.stores import clock, tmp_store

__all__ = ["clock", "tmp_store"]
