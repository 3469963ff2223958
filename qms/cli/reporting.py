"""What `qms` says when something went wrong, and the code that it exits with."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from qms.cli import output
from qms.domain.errors import QmsError


@contextmanager
def reporting(*, as_json: bool = False) -> Iterator[None]:
    """Say on standard error what went wrong and what to do, and exit with its code."""
    try:
        yield
    except QmsError as error:
        if as_json:
            output.answer(error.as_object())
        output.failure(error)
        sys.exit(error.exit_code)
