"""memoryctl status, on a server and on files."""

from tests.cli.conftest import Terminal


def test_the_status_names_stores_and_what_is_wrong(ctl: Terminal) -> None:
    ctl.remember("one")

    shown, found = ctl.ok("status"), ctl.ok("status", "--json").json

    assert "default" in shown.out
    assert found["status"] in shown.out
    assert "default" in [one["name"] for one in found["stores"]]


def test_the_status_of_a_stopped_server_is_that_of_its_files(files: Terminal) -> None:
    files.remember("one")

    well = files.ok("status", "--json").json
    with files.entries_file().open("a", encoding="utf-8") as file:
        file.write("no JSON\n")
    spoiled = files.ok("status", "--json").json

    assert (well["status"], spoiled["status"]) == ("Healthy", "Degraded")
    assert {one["name"]: one["entries"] for one in well["stores"]} == {"shared": 0, "default": 1}


def test_the_status_can_wait_until_all_is_loaded(server: Terminal) -> None:
    assert server.ok("status", "--wait", "--json").json["status"] == "Healthy"
