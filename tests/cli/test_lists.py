import json

from tests.cli.conftest import Terminal


def fill(ctl: Terminal, count: int) -> None:
    """Store so many notes, by an edit of the file."""
    lines = [
        json.dumps({"id": f"default:n{number:04}", "kind": "note", "body": {"text": f"{number}"}})
        for number in range(count)
    ]
    ctl.entries_file().write_text("\n".join(lines) + "\n", encoding="utf-8")
    ctl.ok("stores", "reload", "default")


def test_list_prints_the_object_that_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("one", "--kind", "fact", "--tag", "x")
    ctl.remember("two")

    printed = ctl.ok("list", "--json").json

    assert printed == ctl.api("default", "listEntries")
    assert [item["title"] for item in printed["items"]] == ["two", "one"]


def test_list_prints_a_table_with_the_local_id(ctl: Terminal) -> None:
    ctl.remember("The first", "--id", "first", "--kind", "fact", "--tag", "x", "--tag", "y")

    head, row = ctl.ok("list").out.splitlines()

    assert head.split() == ["TITLE", "ID", "KIND", "UPDATED", "TAGS"]
    assert row.startswith("The first  first  fact  20")
    assert row.endswith("x, y")


def test_filters_are_those_of_the_api(ctl: Terminal) -> None:
    ctl.remember("A", "--id", "a", "--kind", "fact", "--tag", "x", "--priority", "9", "--pinned")
    ctl.remember("B", "--id", "b", "--kind", "task", "--tag", "x", "--tag", "y")
    ctl.remember("C", "--id", "c", "--namespace", "n", "--metadata", "port=5433")

    def found(*words: str) -> list[str]:
        return sorted(ctl.ok("list", "--include", "ids", *words).out.split())

    assert found("--kind", "fact", "--kind", "task") == ["default:a", "default:b"]
    assert found("--tag", "x", "--tag", "y") == ["default:b"]
    assert found("--any-tag", "y") == ["default:b"]
    assert found("--namespace", "n") == ["default:c"]
    assert found("--min-priority", "8") == ["default:a"]
    assert found("--no-pinned") == ["default:b", "default:c"]
    assert found("--metadata", "port=5433") == ["default:c"]
    assert found("--updated-after", "1h") == ["default:a", "default:b", "default:c"]
    assert found("--updated-before", "2020-01-01") == []
    assert found("--created-after", "2020-01-01T00:00:00+02:00", "--limit", "1") == ["default:c"]


def test_an_empty_list_is_said_on_standard_error(ctl: Terminal) -> None:
    result = ctl.ok("list")

    assert result.out == ""
    assert result.err.endswith("nothing found\n")


def test_all_goes_through_every_page(ctl: Terminal) -> None:
    fill(ctl, 230)

    printed = ctl.ok("list", "--all", "--sort", "title", "--json").json

    assert len(printed["items"]) == 230
    assert printed["nextCursor"] is None
    assert len(ctl.ok("list", "--limit", "210", "--include", "ids").out.splitlines()) == 210


def test_all_respects_a_server_that_allows_smaller_pages(ctl: Terminal) -> None:
    fill(ctl, 12)
    ctl.edit_settings("\nresults = 200", "\nresults = 5")

    assert len(ctl.ok("list", "--all", "--include", "ids").out.splitlines()) == 12


def test_a_cursor_goes_on_where_the_list_ended_on_a_server(server: Terminal) -> None:
    fill(server, 5)
    words = ("list", "--include", "ids", "--sort", "title", "--limit", "3")
    first = server.ok(*words)
    cursor = first.err.split("--cursor ")[1].strip()

    second = server.ok(*words, "--cursor", cursor)

    assert len(set((first.out + second.out).split())) == 5


def test_on_files_a_list_that_goes_on_names_what_works_there(files: Terminal) -> None:
    fill(files, 5)

    result = files.ok("list", "--limit", "3")

    assert "--cursor" not in result.err
    assert "hint: continue with --all" in result.err


def test_full_entries_are_printed_one_after_the_other(ctl: Terminal) -> None:
    ctl.remember("One")
    ctl.remember("Two")

    assert ctl.ok("list", "--include", "full").out.count("\ntitle ") == 2


def test_a_bad_sort_is_refused_with_exit_code_2(ctl: Terminal) -> None:
    result = ctl("list", "--sort", "colour")

    assert result.code == 2
    assert "error: sort: 'colour' is not one of" in result.err


def test_a_format_prints_what_the_api_answers(ctl: Terminal) -> None:
    ctl.remember("The first", "--id", "first", "--kind", "fact", "--tag", "x")
    ctl.remember("The second", "--id", "second")

    rows = ctl.ok("list", "--format", "toonCompact", "--limit", "1").out.splitlines()

    assert rows[0].startswith("count:1|project:default|nextCursor:")
    assert rows[1].startswith("memories[id|kind|title|tags|namespace|priority=5|")
    assert rows[2:] == ["second|note|The second"]
    assert ctl.ok("list", "--format", "json").json == ctl.ok("list", "--json").json
    assert ctl("list", "--format", "toon", "--all").code == 2
