"""The install root: found by option, environment or platform, and owned by one process."""

import os
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path

import pytest

from qms.config.install_layout import Layout, write_layout
from qms.config.root import LOCK_PLACE, announce, claim_root, find_root, installed_root
from qms.disk.root_lock import read_owner
from qms.memory.errors import ConflictError


def clock() -> datetime:
    return datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_the_option_wins_over_the_environment(tmp_path: Path) -> None:
    environ = {"QMS_ROOT": str(tmp_path / "environment")}

    assert find_root(tmp_path / "option", environ) == tmp_path / "option"
    assert find_root(None, environ) == tmp_path / "environment"


@pytest.mark.parametrize("environ", [{}, {"QMS_ROOT": ""}])
def test_without_either_the_root_is_the_users_data_folder(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    with chdir(tmp_path):
        root = find_root(None, environ)

    assert root.is_absolute()
    assert root.name == "QuickMemoryServer"
    assert not root.is_relative_to(tmp_path)


@pytest.mark.parametrize("data_root", ["", "elsewhere"])
def test_an_installation_keeps_its_data_where_its_layout_says(
    tmp_path: Path, data_root: str
) -> None:
    chosen = str(tmp_path / data_root) if data_root else ""
    write_layout(tmp_path, Layout(version="1.2.3", files=(), data_root=chosen))

    assert installed_root(tmp_path) == tmp_path / data_root


def test_a_relative_root_is_made_absolute(tmp_path: Path) -> None:
    with chdir(tmp_path):
        assert find_root("here", {}) == tmp_path / "here"


@pytest.mark.fault("F15")
def test_a_second_owner_is_told_who_the_first_one_is(tmp_path: Path) -> None:
    held = claim_root(tmp_path, clock, command="qms serve")
    announce(held, "http://127.0.0.1:5080")

    with pytest.raises(ConflictError, match="qms serve, started 2026-05-01T12:00:00Z") as caught:
        claim_root(tmp_path, clock, command="memoryctl list")

    assert caught.value.details["pid"] == os.getpid()
    assert caught.value.details["url"] == "http://127.0.0.1:5080"
    held.release()
    claim_root(tmp_path, clock, command="memoryctl list").release()
    assert read_owner(tmp_path / LOCK_PLACE) is None


def test_an_owner_names_its_own_command_when_none_is_given(tmp_path: Path) -> None:
    held = claim_root(tmp_path, clock)

    owner = read_owner(tmp_path / LOCK_PLACE)

    held.release()
    assert owner is not None
    assert owner.command
