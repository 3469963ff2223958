"""Asking whether a call is refused, for input of which nobody knows beforehand."""

from collections.abc import Callable

from qms.memory.errors import InvalidInputError


def refusal_or_none(call: Callable[[], object]) -> InvalidInputError | None:
    """Return the refusal of a call, or None when it was taken; any other error goes through."""
    try:
        call()
    except InvalidInputError as error:
        return error
    return None
