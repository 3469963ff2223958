"""Index files of stores, and ways to spoil them."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec


def change_manifest(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a manifest says and seal it again, as another version would have written it."""
    content = msgspec.json.decode(path.read_bytes())["content"]
    change(content)
    encoded = msgspec.json.encode(content)
    sealed = {"sha256": hashlib.sha256(encoded).hexdigest(), "content": msgspec.Raw(encoded)}
    path.write_bytes(msgspec.json.encode(sealed))


def flip_byte(path: Path, at: int) -> None:
    """Change one bit of a file.

    In place and never cut short: an index may have it mapped, and reading beyond its end kills.
    """
    at %= path.stat().st_size
    with path.open("r+b") as file:
        file.seek(at)
        changed = bytes([file.read(1)[0] ^ 1])
        file.seek(at)
        file.write(changed)
