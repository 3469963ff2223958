"""memoryctl move and copy, on a server and on files."""

from tests.cli.conftest import Terminal


def test_a_memory_moves_to_another_project(ctl: Terminal) -> None:
    ctl.remember("for all", "--id", "a", "--title", "For all")

    assert ctl("move", "a", "shared").code == 2
    trial = ctl.ok("move", "a", "shared", "--dry-run")
    moved = ctl.ok("move", "a", "shared", "--yes")

    assert "would move 'For all' to shared" in trial.err
    assert (trial.line, moved.line) == ("default:a", "shared:a")
    assert ctl("get", "default:a").code == 4
    assert ctl.ok("get", "shared:a").code == 0


def test_a_copy_leaves_the_memory_where_it_is(ctl: Terminal) -> None:
    ctl.remember("for all", "--id", "a")

    copied = ctl.ok("copy", "a", "shared", "--to-id", "b", "--json")

    assert copied.json["id"] == "shared:b"
    assert ctl.ok("get", "a").code == ctl.ok("get", "shared:b").code == 0


def test_a_memory_does_not_move_over_another(ctl: Terminal) -> None:
    ctl.remember("ours", "--id", "a")
    ctl.remember("theirs", "--id", "a", "--project", "shared")

    assert ctl("move", "a", "shared", "--yes", "--project", "default").code == 5
    assert ctl("copy", "a", "absent").code == 4
