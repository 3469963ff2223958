"""users, keys, permissions, projects and audit, on a server and on files alike."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Terminal

Table = dict[str, Any]


def toml_of(ctl: Terminal) -> Table:
    return tomllib.loads((ctl.root / "QuickMemoryServer.toml").read_text(encoding="utf-8"))


def audit_file(ctl: Terminal) -> Path:
    return ctl.root / "logs" / "audit.jsonl"


def test_a_user_is_made_changed_listed_and_removed(ctl: Terminal) -> None:
    ctl.ok("users", "add", "alice", "--tier", "writer")
    ctl.ok("users", "set", "alice", "--tier", "curator")
    assert toml_of(ctl)["users"]["alice"]["tier"] == "curator"
    listed = ctl.ok("users", "list")
    assert [line.split() for line in listed.out.splitlines()][2] == ["alice", "curator", "0"]
    assert "alice" in {one["name"] for one in ctl.ok("users", "list", "--json").json["items"]}

    ctl.ok("users", "remove", "alice", "--yes")

    assert "alice" not in toml_of(ctl)["users"]


@pytest.mark.parametrize("name", ["a b", "a/b?c=d#e", "ü&x=1"])
def test_a_name_of_any_kind_reaches_the_server_as_it_is(ctl: Terminal, name: str) -> None:
    table = "[endpoint.default]\n"
    ctl.edit_settings(table, f'[users."{name}"]\ntier = "reader"\n\n{table}')
    ctl.ok("permissions", "set", name, "writer")
    assert toml_of(ctl)["permissions"]["default"] == {name: "writer"}

    ctl.ok("users", "remove", name, "--yes")

    assert name not in toml_of(ctl)["users"]


@pytest.mark.parametrize(
    "words",
    [
        ("users", "remove", "bob"),
        ("projects", "remove", "website"),
        ("keys", "revoke", "KEY"),
    ],
)
def test_a_removal_is_tried_out_and_asked_for(ctl: Terminal, words: tuple[str, ...]) -> None:
    ctl.ok("users", "add", "bob", "--tier", "reader")
    ctl.ok("projects", "add", "website")
    key = ctl.ok("keys", "create", "bob", "--json").json["id"]
    words = tuple(word.replace("KEY", key) for word in words)
    before = toml_of(ctl)

    tried = ctl.ok(*words, "--dry-run", "--json")
    assert "would " in tried.err
    assert tried.json["version"]
    assert ctl(*words).code == 2
    assert toml_of(ctl) == before

    ctl.ok(*words, "--yes")
    assert toml_of(ctl) != before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("users", "remove", "nobody", "--yes"), 4),
        (("users", "set", "nobody", "--tier", "reader"), 4),
        (("users", "add", "admin", "--tier", "reader"), 5),
        (("users", "add", "x"), 2),
        (("keys", "revoke", "nothing", "--yes"), 4),
        (("keys", "list", "--user", "nobody"), 4),
        (("projects", "remove", "nowhere", "--yes"), 4),
        (("projects", "add", "../x"), 2),
        (("projects", "set", "default"), 2),
        (("projects", "rename", "nowhere", "x"), 4),
        (("permissions", "list", "--project", "nowhere"), 4),
        (("permissions", "remove", "admin"), 4),
        (("permissions", "set", "nobody", "reader"), 2),
    ],
)
def test_what_makes_no_sense_is_refused(ctl: Terminal, words: tuple[str, ...], code: int) -> None:
    before = toml_of(ctl)

    assert ctl(*words).code == code
    assert toml_of(ctl) == before


@pytest.mark.attack(69)
def test_the_last_admin_is_not_removed(ctl: Terminal) -> None:
    (key,) = ctl.ok("keys", "list", "--json").json["items"]

    assert ctl("users", "remove", "admin", "--yes").code == 5
    assert ctl("users", "set", "admin", "--tier", "reader").code == 5
    assert ctl("keys", "revoke", key["id"], "--yes").code == 5


def test_keys_are_listed_without_anything_to_check_them_with(ctl: Terminal) -> None:
    made = ctl.ok("keys", "create", "admin", "--label", "laptop", "--json").json

    shown = ctl.ok("keys", "list")

    assert made["id"] in shown.out
    assert made["key"] not in shown.out
    assert "sha256" not in ctl.ok("keys", "list", "--json").out
    ctl.ok("keys", "revoke", made["id"], "--yes")
    assert made["id"] not in ctl.ok("keys", "list").out


def tier_in(answer: dict[str, Any], user: str) -> str:
    """Return what a user may do, of the permissions of a project."""
    (tier,) = [one["tier"] for one in answer["items"] if one["user"] == user]
    return str(tier)


def test_permissions_are_set_listed_and_removed(ctl: Terminal) -> None:
    ctl.ok("users", "add", "alice", "--tier", "reader")
    ctl.ok("permissions", "set", "alice", "curator", "--project", "shared")
    ctl.ok("permissions", "set", "admin", "admin", "--project", "shared")
    assert toml_of(ctl)["permissions"]["shared"] == {"alice": "curator", "admin": "admin"}
    listed = ctl.ok("permissions", "list", "--project", "shared").out
    assert "alice  curator  curator" in listed
    everywhere = ctl.ok("permissions", "list", "--json").json
    assert {slug: tier_in(one, "alice") for slug, one in everywhere.items()} == {
        "shared": "curator",
        "default": "reader",
    }
    assert "default  alice  reader" in ctl.ok("permissions", "list").out

    ctl.ok("permissions", "remove", "alice", "--project", "shared")

    assert toml_of(ctl)["permissions"]["shared"] == {"admin": "admin"}


def test_a_project_is_made_changed_renamed_and_removed(ctl: Terminal) -> None:
    ctl.ok("projects", "add", "websiet", "--name", "Our site", "--private", "--toolset", "core")
    ctl.ok("projects", "set", "websiet", "--max-entries", "50", "--no-private")
    ctl.ok("projects", "rename", "websiet", "website")
    assert toml_of(ctl)["endpoint"]["website"] == {
        "slug": "website",
        "name": "Our site",
        "private": False,
        "toolsets": ["core"],
        "maxEntries": 50,
        "storagePath": "websiet",
    }
    ctl.remember("Kept", "--project", "website")
    assert "website" in ctl.ok("projects", "list").out

    removed = ctl.ok("projects", "remove", "website", "--yes", "--json").json

    assert "website" not in toml_of(ctl)["endpoint"]
    assert "Kept" in (ctl.root / removed["keptIn"] / "entries.jsonl").read_text(encoding="utf-8")
    assert ctl("list", "--project", "website").code == 4


def test_the_latest_records_are_shown_newest_last(ctl: Terminal) -> None:
    ctl.remember("One")
    ctl.ok("users", "add", "alice", "--tier", "reader")

    lines = ctl.ok("audit", "tail").out.splitlines()

    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert "upsertEntry in default: create default:" in lines[0]
    assert lines[1].endswith("createUser: create users/alice")
    assert len(ctl.ok("audit", "tail", "--limit", "1").out.splitlines()) == 1
    assert len(ctl.ok("audit", "tail", "--project", "default", "--json").json["items"]) == 1
    assert ctl.ok("audit", "tail", "--command", "createUser", "--since", "1h").out
    assert "no matching records" in ctl.ok("audit", "tail", "--user", "nobody").err


@pytest.mark.attack(71)
@pytest.mark.parametrize(
    ("damage", "line"), [("edited", 2), ("removed", 2), ("reordered", 2), ("cut", 4)]
)
def test_the_first_bad_record_of_the_audit_log_is_named(
    ctl: Terminal, damage: str, line: int
) -> None:
    for number in range(4):
        ctl.remember(f"Memory {number}")
    assert ctl.ok("audit", "verify").line == "4 records, none edited, removed or moved"
    lines = audit_file(ctl).read_bytes().splitlines(keepends=True)
    match damage:
        case "edited":
            lines[1] = lines[1].replace(b'"create"', b'"remove"')
        case "removed":
            del lines[1]
        case "reordered":
            lines[1], lines[2] = lines[2], lines[1]
        case _:
            del lines[3]
    audit_file(ctl).write_bytes(b"".join(lines))

    result = ctl("audit", "verify")

    assert result.code == 1
    assert result.line.startswith(f"line {line}: record {line}: ")
    assert ctl("audit", "verify", "--json").json["bad"]["line"] == line


def test_an_administration_verb_needs_an_admins_key_on_a_server(server: Terminal) -> None:
    server.ok("users", "add", "alice", "--tier", "curator")
    key = server.ok("keys", "create", "alice").line

    for words in (("users", "list"), ("audit", "tail"), ("projects", "list"), ("keys", "list")):
        assert server(*words, "--key", key).code == 3
