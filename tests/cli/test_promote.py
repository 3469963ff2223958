"""memoryctl promote, on a server and on files."""

from tests.cli.conftest import Terminal


def test_a_promoted_memory_lives_for_ever(ctl: Terminal) -> None:
    ctl.remember("this week", "--id", "a", "--retention", "mid")

    result = ctl.ok("promote", "a")

    assert result.line == "default:a"
    assert "kept forever" in result.err
    entry = ctl.ok("get", "a", "--json").json["entry"]
    assert "ttlUtc" not in entry


def test_promote_says_when_the_memory_ends_now(ctl: Terminal) -> None:
    ctl.remember("today", "--id", "a", "--retention", "short")

    result = ctl.ok("promote", "a", "--retention", "mid", "--json")

    assert result.json["entry"]["retention"] == "mid"
    assert result.json == ctl.api("default", "getEntry", id="a")


def test_a_stale_version_is_not_promoted(ctl: Terminal) -> None:
    ctl.remember("this week", "--id", "a", "--retention", "mid")

    assert ctl("promote", "a", "--if-version", "0" * 16).code == 5
