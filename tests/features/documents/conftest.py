"""Files of the test data, and an extractor that all tests of a module share."""

from pathlib import Path

import pytest

from qms.features.documents.extract import Extractor

DATA = Path(__file__).parents[2] / "data" / "documents"


@pytest.fixture(scope="session")
def extractor() -> Extractor:
    """Return an extractor with the bounds of the product."""
    return Extractor()
