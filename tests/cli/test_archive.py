"""memoryctl archive list, restore, purge and stats, on a server and on files."""

from tests.cli.conftest import Terminal


def deleted(ctl: Terminal, *names: str) -> None:
    """Fill the archive."""
    for name in names:
        ctl.remember(f"text of {name}", "--id", name, "--title", name.upper(), "--namespace", name)
    ctl.ok("delete", *names, "--yes")


def test_the_archive_is_listed_the_last_first_and_by_filter(ctl: Terminal) -> None:
    deleted(ctl, "a", "b")

    rows = [line.split() for line in ctl.ok("archive", "list").out.splitlines()]
    page = ctl.ok("archive", "list", "--limit", "1", "--json").json

    assert [row[-1] for row in rows] == ["TITLE", "B", "A"]
    assert [one["id"] for one in page["items"]] == ["default:b"]
    assert page["nextCursor"] is not None
    for words in (("--id", "a"), ("--namespace", "a")):
        (found,) = ctl.ok("archive", "list", *words, "--after", "1h", "--json").json["items"]
        assert found["id"] == "default:a"
    assert "nothing found" in ctl.ok("archive", "list", "--reason", "expired").err


def test_a_cursor_goes_on_where_a_list_of_the_archive_ended(server: Terminal) -> None:
    deleted(server, "a", "b")
    cursor = server.ok("archive", "list", "--limit", "1", "--json").json["nextCursor"]

    rest = server.ok("archive", "list", "--limit", "1", "--cursor", cursor, "--json").json

    assert [one["id"] for one in rest["items"]] == ["default:a"]


def test_a_format_prints_the_archive_as_the_api_answers_it(ctl: Terminal) -> None:
    deleted(ctl, "a")

    head, header, row = ctl.ok("archive", "list", "--format", "toonCompact").out.splitlines()

    assert head == "count:1|project:default"
    assert header == "archived[id|kind|title|reason|by|archivedUtc]:"
    assert row.startswith("a|note|A|deleted|")
    as_json = ctl.ok("archive", "list", "--format", "json")
    assert as_json.json == ctl.ok("archive", "list", "--json").json


def test_an_archived_memory_comes_back_without_an_end(ctl: Terminal) -> None:
    ctl.remember("soon over", "--id", "a", "--retention", "short")
    ctl.ok("delete", "a", "--yes")
    (found,) = ctl.ok("archive", "list", "--json").json["items"]

    assert ctl("archive", "restore", "a", "--archived", "2020-01-01").code == 4
    back = ctl.ok("archive", "restore", "a", "--archived", found["archivedUtc"])

    assert back.line == "default:a"
    assert "ttlUtc" not in ctl.ok("get", "a", "--json").json["entry"]


def test_the_archive_is_purged_after_a_question(ctl: Terminal) -> None:
    deleted(ctl, "a", "b")

    assert ctl("archive", "purge").code == 2
    assert "nothing to purge" in ctl.ok("archive", "purge", "--older-than-days", "1").err
    assert ctl.ok("archive", "purge", "--all", "--dry-run", "--json").json == {"purged": 2}
    assert ctl("archive", "purge", "--all").code == 2
    assert "2 permanently deleted" in ctl.ok("archive", "purge", "--all", "--yes").err
    assert ctl("archive", "restore", "a").code == 4


def test_the_stats_of_the_archive_count_by_reason(ctl: Terminal) -> None:
    assert ctl.ok("archive", "stats").out.startswith("0 archived")
    deleted(ctl, "a", "b")

    shown = ctl.ok("archive", "stats").out

    assert shown.startswith("2 archived")
    assert ["deleted", "2"] in [line.split() for line in shown.splitlines()]
    assert ctl.ok("archive", "stats", "--json").json == ctl.api("default", "archiveStats")
