import re
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.cli.conftest import Terminal
from tests.support.environment import Environment

KEY = re.compile(r"qms_[A-Za-z0-9_-]{43}")


def users(ctl: Terminal) -> dict[str, Any]:
    """Return the users of the configuration."""
    found: dict[str, Any] = tomllib.loads(
        (ctl.root / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    )["users"]
    return found


def test_a_lost_admin_key_is_made_again_while_the_server_runs(
    server: Terminal, environment: Environment
) -> None:
    del environment["QMS_KEY"]
    assert server("list").code == 3

    result = server.ok("keys", "create", "admin")

    assert KEY.fullmatch(result.line)
    assert "accepts the key" in result.err
    assert server.ok("stores", "verify", "--key", result.line).code == 0


def test_a_key_made_on_files_opens_the_server_that_starts_later(files: Terminal) -> None:
    key = files.ok("keys", "create", "alice", "--tier", "writer", "--label", "laptop").line
    files.start()

    assert files.ok("list", "--key", key).code == 0
    assert users(files)["alice"]["tier"] == "writer"
    assert users(files)["alice"]["keys"][0]["label"] == "laptop"


def test_only_the_hash_is_kept_and_the_key_is_printed_once(ctl: Terminal) -> None:
    result = ctl.ok("keys", "create", "admin")

    assert result.line not in result.err
    text = (ctl.root / "QuickMemoryServer.toml").read_text(encoding="utf-8")
    assert result.line not in text
    assert len(users(ctl)["admin"]["keys"]) == 2


def test_json_has_the_id_and_the_key(ctl: Terminal) -> None:
    printed = ctl.ok("keys", "create", "admin", "--json").json

    assert set(printed) == {"id", "key"}
    assert printed["id"] in [record["id"] for record in users(ctl)["admin"]["keys"]]


def test_a_new_user_needs_a_tier(ctl: Terminal) -> None:
    before = users(ctl)

    result = ctl("keys", "create", "alice")

    assert result.code == 2
    assert "hint: tiers are none, reader, writer, curator, admin" in result.err
    assert users(ctl) == before


def test_a_user_that_is_there_keeps_its_tier_unless_another_is_given(ctl: Terminal) -> None:
    ctl.ok("keys", "create", "alice", "--tier", "reader")
    ctl.ok("keys", "create", "alice")
    assert users(ctl)["alice"]["tier"] == "reader"

    ctl.ok("keys", "create", "alice", "--tier", "curator")

    assert users(ctl)["alice"]["tier"] == "curator"
    assert len(users(ctl)["alice"]["keys"]) == 3


@pytest.mark.attack(69)
def test_the_last_admin_cannot_be_made_less(ctl: Terminal) -> None:
    before = users(ctl)

    assert ctl("keys", "create", "admin", "--tier", "reader").code == 5
    assert users(ctl) == before


def test_an_expiry_is_a_moment_or_a_length(ctl: Terminal) -> None:
    ctl.ok("keys", "create", "admin", "--expires", "2099-01-02")
    ctl.ok("keys", "create", "admin", "--expires", "90d")

    first, second = (record["expiresUtc"] for record in users(ctl)["admin"]["keys"][1:])

    assert str(first).startswith("2099-01-02")
    days = (datetime.fromisoformat(str(second)) - datetime.now(UTC)).days
    assert days in (89, 90)


@pytest.mark.parametrize("expires", ["2020-01-01", "soon", "99999999d"])
def test_an_expiry_in_the_past_or_of_no_sense_is_refused(files: Terminal, expires: str) -> None:
    assert files("keys", "create", "admin", "--expires", expires).code == 2


@pytest.mark.attack(68)
@pytest.mark.attack(91)
@pytest.mark.parametrize("name", ['x"] tier = "admin', "Alice", "system", "hand-edit", "local"])
def test_no_key_is_made_for_a_name_that_no_user_may_have(ctl: Terminal, name: str) -> None:
    before = users(ctl)

    refused = ctl("keys", "create", name, "--tier", "reader")

    assert refused.code == 2
    assert users(ctl) == before


def test_a_key_is_made_for_a_user_however_its_name_is_spelled(ctl: Terminal) -> None:
    ctl.ok("keys", "create", "alice", "--tier", "reader")

    ctl.ok("keys", "create", "ALICE")

    assert len(users(ctl)["alice"]["keys"]) == 2


@pytest.mark.parametrize("names_root", [True, False])
def test_a_server_makes_keys_over_http(
    server: Terminal, environment: Environment, names_root: bool
) -> None:
    assert server.server is not None
    url = server.server.url
    environment["QMS_URL"] = url
    if not names_root:
        del environment["QMS_ROOT"]

    result = server.ok("keys", "create", "alice", "--tier", "reader", "--expires", "2099-01-02")

    assert KEY.fullmatch(result.line)
    assert f"on the server {url}" in result.err
    assert "of alice, tier reader, until 2099-01-02" in result.err
    assert server.ok("list", "--key", result.line).code == 0
    assert server("remember", "no", "--key", result.line).code == 3


def test_over_http_a_new_user_needs_a_tier_and_one_that_is_there_keeps_its_own(
    server: Terminal, environment: Environment
) -> None:
    assert server.server is not None
    environment["QMS_URL"] = server.server.url

    assert server("keys", "create", "alice").code == 2
    server.ok("users", "add", "alice", "--tier", "reader")
    server.ok("keys", "create", "alice")
    assert users(server)["alice"]["tier"] == "reader"
    made = server.ok("keys", "create", "alice", "--tier", "curator", "--json").json

    assert users(server)["alice"]["tier"] == "curator"
    assert {"id", "key"} <= set(made)
    assert len(users(server)["alice"]["keys"]) == 2


def test_over_http_only_an_admin_makes_keys(server: Terminal, environment: Environment) -> None:
    assert server.server is not None
    writer = server.ok("keys", "create", "alice", "--tier", "writer").line
    environment["QMS_URL"] = server.server.url

    assert server("keys", "create", "admin", "--key", writer).code == 3
    assert len(users(server)["admin"]["keys"]) == 1


def test_an_invalid_configuration_is_named_and_left_alone(files: Terminal) -> None:
    path = files.root / "QuickMemoryServer.toml"
    path.write_text("[global]\nlisten = 5\n", encoding="utf-8")

    result = files("keys", "create", "admin")

    assert result.code == 2
    assert "line 2" in result.err
    assert path.read_text(encoding="utf-8") == "[global]\nlisten = 5\n"
