"""What is known of keys outlives a restart, and the use of an ended key is audited."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.app.build import OpenRoot, open_root
from qms.config.root import AUDIT_PLACE, KEYS_PLACE
from qms.disk.disk import Disk
from qms.memory.errors import NotAuthenticatedError

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
ADMIN = '[users.admin]\ntier = "admin"\napiKey = "qms_the_key_of_the_admin_in_tests"\n'
BOB = '[users.bob]\ntier = "reader"\napiKey = "qms_the_key_of_bob_in_these_tests"\n'


def opened(root: Path) -> OpenRoot:
    return open_root(root, disk=Disk(), clock=lambda: NOW)


def save(root: Path, text: str) -> None:
    (root / "QuickMemoryServer.toml").write_text(text, encoding="utf-8")


def key_id_of(house: OpenRoot, user: str) -> str:
    return house.runtime.configuration.settings.users[user].keys[0].id


def audited(root: Path) -> list[Any]:
    lines = (root / AUDIT_PLACE).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_last_use_is_known_after_a_restart_and_stands_not_in_the_configuration(
    tmp_path: Path,
) -> None:
    save(tmp_path, ADMIN + BOB)
    first = opened(tmp_path)
    first.runtime.gate().authenticate("qms_the_key_of_bob_in_these_tests")
    text = first.runtime.configuration.text
    first.close()

    second = opened(tmp_path)
    keyring = second.runtime.keyring
    try:
        assert keyring.last_used(key_id_of(second, "bob")) == NOW
        assert keyring.last_used(key_id_of(second, "admin")) is None
        assert second.runtime.configuration.text == text
    finally:
        second.close()


@pytest.mark.attack(4)
def test_a_key_revoked_while_the_server_was_down_is_refused_and_audited(tmp_path: Path) -> None:
    save(tmp_path, ADMIN + BOB)
    first = opened(tmp_path)
    key_id = key_id_of(first, "bob")
    first.close()
    text = (tmp_path / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    save(tmp_path, text.partition("[users.bob]")[0])

    second = opened(tmp_path)
    try:
        for _ in range(3):
            with pytest.raises(NotAuthenticatedError):
                second.runtime.gate().authenticate("qms_the_key_of_bob_in_these_tests")
    finally:
        second.close()

    (record,) = audited(tmp_path)
    assert (record["user"], record["keyId"], record["command"]) == ("bob", key_id, "authenticate")
    assert record["changes"] == [{"op": "refuse revoked", "id": f"key:{key_id}", "version": None}]


def test_a_root_that_takes_no_writes_costs_the_dates_alone(tmp_path: Path) -> None:
    class Full(Disk):
        def put(self, path: Path, data: bytes, *, mode: int = 0o600) -> None:
            if path.name == KEYS_PLACE.name:
                raise OSError(28, "No space left on device")
            super().put(path, data, mode=mode)

    save(tmp_path, ADMIN)
    house = open_root(tmp_path, disk=Full(), clock=lambda: NOW)
    house.runtime.gate().authenticate("qms_the_key_of_the_admin_in_tests")

    house.close()

    assert not (tmp_path / KEYS_PLACE).exists()
