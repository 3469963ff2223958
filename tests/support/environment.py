"""The process around a program under test: its variables and its standard input."""

import io
import os
import sys
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager

Environment = MutableMapping[str, str]


@contextmanager
def kept_environment() -> Iterator[Environment]:
    """Yield the variables of this process, which are as before after the block."""
    before = dict(os.environ)
    try:
        yield os.environ
    finally:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def standard_input(typed: bytes) -> Iterator[None]:
    """Have a program in this process read these bytes from its standard input."""
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before
