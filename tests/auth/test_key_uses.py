from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.auth.key_uses import KeyUse, read_key_uses, write_key_uses
from qms.disk.disk import Disk

USES = {
    "a": KeyUse(user="alice", sha256="0" * 64, last_used_utc=datetime(2026, 5, 1, tzinfo=UTC)),
    "b": KeyUse(user="bob", sha256="1" * 64, ended_utc=datetime(2026, 5, 2, tzinfo=UTC)),
}


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / ".qms" / "keys.json"

    write_key_uses(path, USES, Disk())

    assert read_key_uses(path, Disk()) == USES


@pytest.mark.parametrize("content", [b"", b"[]", b'{"a":1}', b"\xff", b'{"a":{"user":"x"}}'])
def test_a_file_that_cannot_be_read_costs_only_what_it_held(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content)

    assert read_key_uses(path, Disk()) == {}


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert read_key_uses(tmp_path / "keys.json", Disk()) == {}
