"""A missing program skips a test at home and fails it in CI."""

import pytest

from tests.support.programs import is_ci, require, why_missing

ABSENT = "no-such-program"


def test_a_missing_program_skips_and_is_named() -> None:
    with pytest.raises(pytest.skip.Exception, match=ABSENT):
        require(ABSENT, in_ci=False)


def test_a_missing_program_fails_in_ci() -> None:
    with pytest.raises(pytest.fail.Exception, match=ABSENT):
        require(ABSENT, in_ci=True)


def test_a_program_that_is_there_does_neither() -> None:
    assert why_missing("true") is None
    require("true", in_ci=True)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [({}, False), ({"CI": ""}, False), ({"CI": "false"}, False), ({"CI": "true"}, True)],
)
def test_ci_is_what_the_environment_says(environment: dict[str, str], expected: bool) -> None:
    assert is_ci(environment) is expected
