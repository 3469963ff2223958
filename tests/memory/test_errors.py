"""The error tree: every error has a code and an answer of its own."""

import pytest

from qms.memory import errors

TABLE = {
    "invalidInput": (errors.InvalidInputError, 400, 2),
    "notAuthenticated": (errors.NotAuthenticatedError, 401, 3),
    "notAllowed": (errors.NotAllowedError, 403, 3),
    "notFound": (errors.NotFoundError, 404, 4),
    "conflict": (errors.ConflictError, 409, 5),
    "unavailable": (errors.UnavailableError, 503, 6),
    "tooLarge": (errors.TooLargeError, 413, 2),
    "storageFull": (errors.StorageFullError, 507, 6),
    "rateLimited": (errors.RateLimitedError, 429, 6),
}


@pytest.mark.parametrize("code", TABLE)
def test_an_error_answers_with_code_message_and_details(code: str) -> None:
    kind, status, exit_code = TABLE[code]
    error = kind("what happened", field="title")

    assert error.as_object() == {
        "error": {"code": code, "message": "what happened", "details": {"field": "title"}}
    }
    assert (error.http_status, error.exit_code) == (status, exit_code)


def test_the_table_is_the_whole_tree() -> None:
    assert {one.code for one in errors.QmsError.__subclasses__()} == set(TABLE)


def test_an_invalid_field_is_named_in_message_and_details() -> None:
    error = errors.invalid("tags[3]", "is empty", limit="tags")

    assert error.message == "tags[3]: is empty"
    assert error.details == {"field": "tags[3]", "limit": "tags"}
