"""A YAML settings file: one mapping is set, every other line stays."""

import pytest
import yaml

from qms.cli.client_yaml import put

ENTRY = {"enabled": True, "uri": "http://127.0.0.1:1/mcp/a?b=c#d", "headers": {"A": "Bearer x: y"}}
FILES = [
    "",
    "a: 1",
    "a: 1\n# extensions:\n",
    "extensions: {}\nz: 2\n",
    "extensions:  # mine\n\n  # inner\n  one:\n    enabled: false\nz: [1, 2]\n",
    "---\nextensions:\n    memory:\n        deep:\n            - 1\n    # of two\n    two: 2\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_mapping_is_set_and_the_rest_is_kept(text: str) -> None:
    once = put(text, "extensions", "memory", ENTRY)

    before, after = yaml.safe_load(text) or {}, yaml.safe_load(once)
    kept = {**before, "extensions": {**(before.get("extensions") or {}), "memory": ENTRY}}
    assert after == kept
    assert put(once, "extensions", "memory", ENTRY) == once
    assert [line for line in text.splitlines() if "#" in line and line not in once] == []


@pytest.mark.parametrize(
    "text", ["extensions: {a: 1}\n", "extensions: [1]\n", "\tx: 1\n", "extensions:\nextensions:\n"]
)
def test_a_layout_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="by hand"):
        put(text, "extensions", "memory", ENTRY)
