"""memoryctl restore, on a server and on files."""

from tests.cli.conftest import Terminal


def test_a_deleted_memory_comes_back(ctl: Terminal) -> None:
    made = ctl.remember("gone too soon")
    ctl.ok("delete", made, "--yes")

    assert ctl.ok("restore", made).line == made
    assert ctl.ok("get", made).code == 0
