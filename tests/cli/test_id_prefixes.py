"""The beginning of an id stands for the id, in every verb that takes one."""

import pytest

from qms.cli.id_prefixes import LEAST_CHARACTERS, shown_ids
from tests.cli.conftest import Terminal


def remembered(ctl: Terminal) -> str:
    """Store a memory with an id made by the server, and return its local part."""
    return ctl.remember("Staging has port 5433").partition(":")[2]


def test_the_beginning_of_a_made_id_is_enough(ctl: Terminal) -> None:
    local = remembered(ctl)

    found = ctl.ok("get", local[:13], "--json")

    assert found.json["entry"]["id"] == f"default:{local}"
    assert f"{local[:13]} is default:{local}" in found.err


def test_the_beginning_of_a_chosen_id_is_enough(ctl: Terminal) -> None:
    ctl.remember("x", "--id", "release-train")

    assert ctl.ok("get", "default:release", "--json").json["entry"]["id"] == "default:release-train"


def test_every_verb_that_takes_an_id_takes_its_beginning(ctl: Terminal) -> None:
    ctl.remember("Old plan", "--id", "plan-of-march")
    ctl.remember("New plan", "--id", "plan-of-april")

    ctl.ok("update", "plan-of-m", "--title", "March")
    ctl.ok("link", "plan-of-a", "plan-of-m")
    assert "plan-of-march" in ctl.ok("get", "plan-of-a", "--links").out
    ctl.ok("unlink", "plan-of-a", "plan-of-m", "--yes")
    ctl.ok("promote", "plan-of-m")
    ctl.ok("delete", "plan-of-m", "--yes")
    assert ctl.ok("history", "plan-of-m", "--json").json["items"]
    assert ctl.ok("restore", "plan-of-m").line == "default:plan-of-march"
    ctl.ok("erase", "plan-of-m", "--yes")
    assert ctl("get", "plan-of-march").code == 4


def test_a_beginning_of_several_ids_names_them_and_changes_nothing(ctl: Terminal) -> None:
    ctl.remember("Old plan", "--id", "plan-of-march")
    ctl.remember("New plan", "--id", "plan-of-april")

    refused = ctl("delete", "plan-of", "--yes")

    assert refused.code == 2
    assert "2 ids begin with 'plan-of': default:plan-of-april, default:plan-of-march" in refused.err
    assert "hint: type more characters of the id" in refused.err
    assert len(ctl.ok("list", "--json").json["items"]) == 2


def test_a_text_that_is_too_short_or_fits_nothing_is_not_found(ctl: Terminal) -> None:
    ctl.remember("x", "--id", "release-train")

    for given in ("release-train"[: LEAST_CHARACTERS - 1], "release-trains", "elease"):
        assert ctl("get", given).code == 4


def test_a_memory_whose_id_tells_another_time_is_found(files: Terminal) -> None:
    line = (
        '{"schemaVersion":1,"id":"default:01000000-0000-7000-8000-000000000000","kind":"note",'
        '"title":"Imported","body":{"text":"x"},'
        '"timestamps":{"createdUtc":"2026-01-05T09:00:00Z","updatedUtc":"2026-01-05T09:00:00Z"}}\n'
    )
    files.entries_file().write_text(line, encoding="utf-8")

    assert files.ok("get", "01000000", "--json").json["entry"]["title"] == "Imported"


def test_a_terminal_gets_the_shortest_beginnings_that_differ(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = [
        "default:01a1ed49-5bb7-7f45-8e5e-939d69c149a4",
        "default:01a1ed49-5bb7-7fa5-8e5e-939d69c149a4",
        "shared:01a1ed49-5d49-7d58-b0ff-f108adc6fe62",
        "default:release-train",
    ]
    assert shown_ids(ids, "default") == [one.removeprefix("default:") for one in ids]
    monkeypatch.setattr("qms.cli.output.is_terminal", lambda: True)

    shown = shown_ids(ids, "default")

    assert shown == [
        "01a1ed49-5bb7-7f4",
        "01a1ed49-5bb7-7fa",
        "shared:01a1ed49-5d49",
        "release-train",
    ]
