"""memoryctl erase, on a server and on files."""

from tests.cli.conftest import Terminal


def test_a_secret_is_erased_from_every_file(ctl: Terminal) -> None:
    made = ctl.remember("the password is xyzzyplugh")
    ctl.ok("backup", "--mode", "full", "--wait")
    assert "backups: 1" in ctl.ok("erase", made, "--dry-run").err

    assert ctl.ok("erase", made, "--yes", "--json").json["erased"]

    ctl.stop()
    left = [
        path
        for path in ctl.root.rglob("*")
        if path.is_file() and b"xyzzyplugh" in path.read_bytes()
    ]
    assert left == []
