"""Results and tokens."""

from qms.search.budget import fit, tokens


def test_tokens_are_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [tokens(size) for size in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_without_a_budget_everything_fits() -> None:
    assert fit(["a", "b"], None, len) == (["a", "b"], 0)


def test_what_does_not_fit_is_left_out_and_counted() -> None:
    assert fit(["a" * 40, "b" * 400, "c" * 40], 20, len) == (["a" * 40, "c" * 40], 1)


def test_a_budget_that_nothing_fits_leaves_everything_out() -> None:
    assert fit(["a" * 40], 1, len) == ([], 1)
