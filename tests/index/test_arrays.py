"""Products of rows are as exact as those of a matrix."""

import numpy as np
import pytest

from qms.index.arrays import products


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_each_row_is_multiplied_with_the_vector(kind: type[np.floating]) -> None:
    chance = np.random.default_rng(1)
    rows = chance.standard_normal((50, 384)).astype(kind)

    found = products(rows, rows[7])

    assert found.dtype == kind
    np.testing.assert_allclose(found, rows @ rows[7], rtol=1e-4, atol=1e-4)
