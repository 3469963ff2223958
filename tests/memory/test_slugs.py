"""What a project may be called."""

import pytest

from qms.memory.slugs import is_slug


@pytest.mark.parametrize("slug", ["a", "projA", "a-b_c", "0", "x" * 64, "Con1", "nulls"])
def test_a_portable_name_is_a_slug(slug: str) -> None:
    assert is_slug(slug)


@pytest.mark.parametrize(
    "text",
    [
        "", "..", ".", "%2e%2e%2f", "..%5c", "a/b", "a\\b", "C:", "a.", ".a", "a\n", "a\0", "a b",
        "-a", "a-", "_a", "a_", "x" * 65, "\u0430", "é", "con", "CON", "Nul", "com1", "LPT9", "aux",
    ],
)  # fmt: skip
def test_anything_else_is_not(text: str) -> None:
    assert not is_slug(text)
