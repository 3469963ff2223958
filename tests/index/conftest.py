"""What the tests of the indexes share."""

from tests.support.boxes import clock, tmp_store

__all__ = ["clock", "tmp_store"]
