"""Metadata facts: a key and its value, hashed to one number that a filter can look for."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any


def fact_tokens(metadata: Mapping[str, Any]) -> list[int]:
    """Return a number for each fact."""
    return [fact_token(*fact) for fact in metadata.items()] if metadata else []


def fact_token(key: str, value: Any) -> int:
    """Return a number that is equal for a key with equal JSON values, in every process.

    Sixty-four bits: unequal facts share one about once in 10¹⁹.
    """
    text = f"{len(key)} {key}{_canonical(value)}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)


def _canonical(value: Any) -> str:
    """Return a text that is the same for two JSON values exactly if they are equal in Python."""
    if isinstance(value, str):
        return "text " + value
    if isinstance(value, int):
        return str(int(value))
    return json.dumps(_with_one_form_of_numbers(value), sort_keys=True)


def _with_one_form_of_numbers(value: Any) -> Any:
    """Give 1, 1.0 and true, which are equal in Python, the same form."""
    match value:
        case bool():
            return int(value)
        case float():
            return int(value) if value.is_integer() else value
        case dict():
            return {key: _with_one_form_of_numbers(item) for key, item in value.items()}
        case list():
            return [_with_one_form_of_numbers(item) for item in value]
        case _:
            return value
