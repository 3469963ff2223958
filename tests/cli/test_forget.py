"""memoryctl forget, on a server and on files."""

from tests.cli.conftest import Terminal


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
