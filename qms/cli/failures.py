"""Prints errors on standard error and exits with their code."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from qms.cli import output
from qms.memory.errors import QmsError


@contextmanager
def reporting(*, as_json: bool = False) -> Iterator[None]:
    """Print a `QmsError` with its hints on standard error, and exit with its code."""
    try:
        yield
    except QmsError as error:
        if as_json:
            output.answer(error.as_object())
        output.failure(error)
        sys.exit(error.exit_code)


def report_each(outcomes: dict[str, Any], *, as_json: bool, is_single: bool) -> None:
    """Print the answers by name, as the API gives them, and exit with the code of the first error.

    Raises:
        QmsError: there is a single outcome, and it is an error.
    """
    failures = {name: error for name, error in outcomes.items() if isinstance(error, QmsError)}
    if is_single and failures:
        raise next(iter(failures.values()))
    if as_json:
        answers = {
            name: value.as_object() if isinstance(value, QmsError) else value
            for name, value in outcomes.items()
        }
        output.answer(next(iter(answers.values())) if is_single else answers)
    for name, error in failures.items():
        output.failure(error, about=name)
    if failures:
        raise click.exceptions.Exit(next(iter(failures.values())).exit_code)
