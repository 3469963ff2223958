"""memoryctl history, on a server and on files."""

from tests.cli.conftest import Terminal


def test_an_earlier_version_is_listed_and_brought_back(ctl: Terminal) -> None:
    made = ctl.remember("first text", "--title", "one")
    ctl.ok("update", made, "--title", "two")
    versions = ctl.ok("history", made, "--json").json["items"]
    assert [item["title"] for item in versions] == ["two", "one"]
    assert "two" in ctl.ok("history", made).out

    ctl.ok("restore", made, "--version", versions[1]["version"])

    assert ctl.ok("get", made, "--json").json["entry"]["title"] == "one"
