"""`memoryctl call`: any command by its name."""

from tests.cli.conftest import Terminal


def test_a_command_of_a_project_is_sent_with_its_fields(ctl: Terminal) -> None:
    ctl.remember("a fact", "--kind", "fact", "--id", "a")
    ctl.remember("a note", "--id", "b")

    done = ctl.ok("call", "listEntries", 'filter={"kinds": ["fact"]}', "include=ids")

    assert [one["id"] for one in done.json["items"]] == ["default:a"]


def test_a_request_is_read_from_standard_input_and_fields_override_it(ctl: Terminal) -> None:
    ctl.remember("a fact", "--id", "a")

    done = ctl.ok("call", "getEntry", "id=a", "--request", "-", typed=b'{"id": "other"}')

    assert done.json["entry"]["id"] == "default:a"


def test_a_command_of_the_administration_is_found_even_without_a_verb(ctl: Terminal) -> None:
    known = ctl.ok("call", "listUsers").json
    found = ctl.ok("call", "listHeld").json

    assert [one["name"] for one in known["items"]] == ["admin"]
    assert found["items"] == []


def test_a_maintenance_command_goes_where_it_needs_no_toolset(server: Terminal) -> None:
    server.allow("core")

    assert server.ok("call", "archiveStats").json["archived"] == 0


def test_text_is_printed_as_it_is(ctl: Terminal) -> None:
    ctl.remember("a fact", "--id", "a")

    assert "default:a" in ctl.ok("call", "listEntries", "format=toon").out


def test_a_command_that_nobody_has_is_told(ctl: Terminal) -> None:
    done = ctl("call", "noSuchCommand")

    assert done.code == 4
    assert "noSuchCommand" in done.err


def test_a_field_of_the_path_is_required_and_may_be_a_number(server: Terminal) -> None:
    missing = server("call", "getLine", "project=default")
    found = server("call", "getLine", "project=default", "line=7")

    assert missing.code == 2
    assert "line" in missing.err
    assert found.code == 4
    assert "7" in found.err


def test_a_field_without_a_value_is_refused(ctl: Terminal) -> None:
    assert ctl("call", "getEntry", "a").code == 2
