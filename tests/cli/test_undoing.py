"""memoryctl history, restore, forget and erase, on a server and on files."""

from tests.cli.conftest import Terminal


def test_an_earlier_version_is_listed_and_brought_back(ctl: Terminal) -> None:
    made = ctl.remember("first text", "--title", "one")
    ctl.ok("update", made, "--title", "two")
    versions = ctl.ok("history", made, "--json").json["items"]
    assert [item["title"] for item in versions] == ["two", "one"]
    assert "two" in ctl.ok("history", made).out

    ctl.ok("restore", made, "--version", versions[1]["version"])

    assert ctl.ok("get", made, "--json").json["entry"]["title"] == "one"


def test_a_deleted_memory_comes_back(ctl: Terminal) -> None:
    made = ctl.remember("gone too soon")
    ctl.ok("delete", made, "--yes")

    assert ctl.ok("restore", made).line == made
    assert ctl.ok("get", made).code == 0


def test_what_an_author_made_is_forgotten_and_comes_back(ctl: Terminal) -> None:
    made = {ctl.remember(f"poison {number}") for number in range(3)}
    author = "admin" if ctl.server else "local"
    assert ctl.ok("forget", "--author", author, "--since", "1h", "--dry-run").out == ""
    undo = ctl.ok("forget", "--author", author, "--since", "1h", "--yes").line
    assert ctl.ok("list", "--json").json["items"] == []

    assert set(ctl.ok("forget", "--undo", undo).out.split()) == made


def test_what_matches_words_and_filters_is_forgotten(ctl: Terminal) -> None:
    for name, namespace in (("a", "app"), ("b", "other"), ("c", "app")):
        ctl.remember("old stuff", "--id", name, "--namespace", namespace, "--retention", "short")
    ctl.ok("promote", "c")
    conditions = ("old stuff", "--namespace", "app", "--retention", "short")

    assert ctl("forget", "--yes").code == 2
    trial = ctl.ok("forget", *conditions, "--dry-run", "--json").json
    ctl.ok("forget", *conditions, "--yes")

    assert trial["ids"] == ["default:a"]
    assert {one["id"] for one in ctl.ok("list", "--json").json["items"]} == {
        "default:b",
        "default:c",
    }


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
