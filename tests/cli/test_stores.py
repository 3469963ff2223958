import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal


def write_by_hand(path: Path, lines: list[str]) -> None:
    """Save a file as an editor does: beside it, then renamed."""
    saved = path.with_name("saved")
    saved.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    saved.replace(path)


def note(number: int) -> str:
    """Return the line of a note."""
    entry = {"id": f"default:n{number}", "kind": "note", "body": {"text": f"note {number}"}}
    return json.dumps(entry)


@pytest.fixture
def held(ctl: Terminal) -> Terminal:
    """A store of twenty notes whose file was emptied by hand."""
    write_by_hand(ctl.entries_file(), [note(number) for number in range(20)])
    ctl.ok("stores", "reload", "default")
    write_by_hand(ctl.entries_file(), [])
    ctl.ok("stores", "reload", "default")
    return ctl


def count(ctl: Terminal) -> int:
    """Return how many entries the project has."""
    return len(ctl.ok("list", "--all", "--json").json["items"])


@pytest.mark.parametrize(
    ("verb", "command"),
    [
        ("verify", "verifyStore"),
        ("problems", "listProblems"),
        ("conflicts", "listConflicts"),
        ("reload", "reloadStore"),
    ],
)
def test_with_a_project_the_object_is_the_one_of_the_api(
    ctl: Terminal, verb: str, command: str
) -> None:
    ctl.allow("core", "system")
    write_by_hand(ctl.entries_file(), [note(1), "no json"])
    ctl("stores", "reload")

    by_argument = ctl("stores", verb, "default", "--json").json

    assert by_argument == ctl("stores", verb, "--project", "default", "--json").json
    assert by_argument == ctl.api("default", command)


def test_without_a_project_every_project_answers_by_its_name(ctl: Terminal) -> None:
    printed = ctl.ok("stores", "problems", "--json").json

    assert printed == {"shared": {"items": []}, "default": {"items": []}}


def test_a_relation_into_the_archive_is_a_note_and_no_fault(ctl: Terminal) -> None:
    target = ctl.remember("the old way")
    source = ctl.remember("the new way")
    ctl.ok("link", source, target, "--type", "supersedes")
    ctl.ok("delete", target, "--yes")

    result = ctl.ok("stores", "verify", "default")

    assert result.out == ""
    assert f"archivedRelation: {target} is in the archive; it is named by {source}" in result.err
    (note,) = ctl.ok("stores", "verify", "default", "--json").json["notes"]
    assert note["code"] == "archivedRelation"


def test_a_relation_that_leads_nowhere_is_still_a_fault(ctl: Terminal) -> None:
    line = json.loads(note(1)) | {"relations": [{"type": "ref", "targetId": "default:never"}]}
    write_by_hand(ctl.entries_file(), [json.dumps(line)])
    ctl.ok("stores", "reload")

    result = ctl("stores", "verify", "default")

    assert result.code == 1
    assert result.out.startswith("default: danglingRelation: default:never is gone")


def test_verify_names_file_line_and_reason_and_exits_with_1(ctl: Terminal) -> None:
    write_by_hand(ctl.entries_file(), [note(1), "no json"])
    ctl.ok("stores", "reload")

    result = ctl("stores", "verify")

    assert result.code == 1
    assert result.out.startswith("default: entries.jsonl:2: ")
    assert "shared: no problems" in result.err
    assert ctl.ok("stores", "problems").out.startswith("default: entries.jsonl:2: ")
    assert ctl.ok("stores", "verify", "shared").out == ""


def test_reload_takes_in_an_edit_by_hand(ctl: Terminal) -> None:
    ctl.ok("stores", "reload", "default")
    write_by_hand(ctl.entries_file(), [note(1), note(2)])

    ctl.ok("stores", "reload", "default")

    assert count(ctl) == 2


def test_a_held_deletion_is_pointed_out(held: Terminal) -> None:
    result = held.ok("stores", "reload", "default")

    assert "warning: default: a deletion is held" in result.err
    assert "hint: run `memoryctl stores accept default`" in result.err
    assert count(held) == 20


def test_accept_takes_the_deletion(held: Terminal) -> None:
    result = held.ok("stores", "accept", "default", "--yes", "--json")

    assert result.json["removed"] == 20
    assert count(held) == 0


def test_reject_brings_the_entries_back(held: Terminal) -> None:
    result = held.ok("stores", "reject", "--yes", "--json")

    assert result.json["default"]["held"] is False
    held.stop()
    assert len(held.entries_file().read_text(encoding="utf-8").splitlines()) == 20


@pytest.mark.parametrize("verb", ["accept", "reject"])
def test_a_decision_is_asked_for_and_a_dry_run_decides_nothing(held: Terminal, verb: str) -> None:
    asked = held("stores", verb, "default")
    shown = held.ok("stores", verb, "default", "--dry-run", "--json")

    assert asked.code == 2
    assert "hint: pass --yes" in asked.err
    assert [problem["code"] for problem in shown.json["items"]] == ["held"]
    assert count(held) == 20


def test_nothing_to_decide_is_a_conflict_only_for_a_project_that_was_named(ctl: Terminal) -> None:
    named = ctl("stores", "accept", "default", "--yes")
    every = ctl("stores", "accept", "--yes", "--json")

    assert named.code == 5
    assert "default has no held deletion" in named.err
    assert (every.code, every.json) == (0, {})
    assert "no held deletions" in every.err


def test_conflict_copies_are_listed(ctl: Terminal) -> None:
    write_by_hand(ctl.entries_file(), [note(1)])
    ctl.ok("stores", "reload", "default")
    copy = {
        "id": "default:n1",
        "reason": "edited by hand",
        "writtenUtc": "2026-03-01T12:00:00Z",
        "entry": {"title": "What the agent wrote"},
    }
    path = ctl.entries_file().parent / ".qms" / "conflicts.jsonl"
    path.write_text(json.dumps(copy) + "\n", encoding="utf-8")

    shown = ctl.ok("stores", "conflicts")

    wanted = "edited by hand; kept copy: 2026-03-01T12:00:00Z What the agent wrote"
    assert shown.out == f"default:n1: {wanted}\n"
    assert "shared: no conflicts" in shown.err
    assert ctl.ok("stores", "conflicts", "default", "--json").json == {"items": [copy]}


def make_conflict(ctl: Terminal) -> dict[str, object]:
    """Leave one conflict copy in the project and return it."""
    ctl.ok("stores", "reload", "default")
    entry = {"title": "By the agent"}
    copy: dict[str, object] = {"id": "default:n1", "reason": "edited by hand", "entry": entry}
    path = ctl.entries_file().parent / ".qms" / "conflicts.jsonl"
    path.write_text(json.dumps(copy) + "\n", encoding="utf-8")
    return copy


def test_dismissed_conflict_copies_are_in_the_archive(ctl: Terminal) -> None:
    make_conflict(ctl)

    result = ctl.ok("stores", "conflicts", "--dismiss", "--yes")

    assert "default: 1 dismissed, 0 left\n" in result.out
    assert ctl.ok("stores", "conflicts", "default", "--json").json == {"items": []}
    archive = ctl.entries_file().with_name("archive.jsonl").read_text(encoding="utf-8")
    assert json.loads(archive)["entry"] == {"title": "By the agent"}
    again = ctl.ok("stores", "conflicts", "default", "--dismiss", "--json")
    assert again.json == {"dismissed": 0, "left": 0}


def test_dismissal_is_asked_for_and_a_dry_run_only_lists(ctl: Terminal) -> None:
    copy = make_conflict(ctl)

    asked = ctl("stores", "conflicts", "default", "--dismiss")
    shown = ctl.ok("stores", "conflicts", "default", "--dismiss", "--dry-run", "--json")

    assert asked.code == 2
    assert "hint: pass --yes" in asked.err
    assert shown.json == {"items": [copy]}
    assert ctl.ok("stores", "conflicts", "default", "--json").json == {"items": [copy]}


def test_a_broken_store_does_not_hide_the_others(ctl: Terminal) -> None:
    is_served = ctl.server is not None
    ctl.stop()
    folder = ctl.root / "MemoryStores" / "default"
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(exist_ok=True)
    folder.write_text("not a folder", encoding="utf-8")
    if is_served:
        ctl.start()

    result = ctl("stores", "problems", "--json")

    assert result.code == 6
    assert result.json["shared"] == {"items": []}
    assert result.json["default"]["error"]["code"] == "unavailable"
    assert "error: default: store default cannot be opened" in result.err


def test_a_key_without_the_right_is_refused_with_exit_code_3(server: Terminal) -> None:
    key = server.ok("keys", "create", "bob", "--tier", "reader").line

    assert server("stores", "verify", "default", "--key", key).code == 3
    assert server("remember", "text", "--key", key).code == 3
    assert server("list", "--key", key).code == 0
