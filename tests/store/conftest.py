"""What the tests of the store share."""

from tests.support.stores import clock, tmp_store

__all__ = ["clock", "tmp_store"]
