"""What every test can rely on."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.support.programs import is_ci, require

# How long an example takes depends on the machine, and is no reason to fail.
settings.register_profile(
    "house", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("house")


def pytest_configure() -> None:
    """Make an `open` without encoding a warning, and so an error, in the worker processes."""
    os.environ["PYTHONWARNDEFAULTENCODING"] = "1"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; fail it in CI, where nothing may be missing."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            require(program, in_ci=is_ci(os.environ))
