"""Projects over `/admin`: made, changed, renamed, taken away with their files kept."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from qms.config.settings import Toolset
from tests.conftest import EntryMaker
from tests.support.asgi import AsgiClient
from tests.support.console import Console
from tests.support.house import House


@pytest.fixture
def admin(client: AsgiClient) -> Console:
    return Console(client)


def endpoints(house: House) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads(house.toml.read_text(encoding="utf-8"))["endpoint"]
    return found


def test_a_project_is_made_and_open_at_once(house: House, admin: Console) -> None:
    settings = {"name": "New one", "private": True, "toolsets": ["core", "system"], "maxEntries": 5}

    made = admin("POST", "/projects", {"slug": "new", "settings": settings})

    assert made == {"version": house.configuration.version}
    assert endpoints(house)["new"] == {"slug": "new", **settings}
    admin("PUT", "/permissions/new", {"permissions": {"writer": "writer"}})
    assert house.door("writer", "new")("listEntries")["items"] == []
    assert house.door("reader", "new").fails("listEntries").status == 404


def test_a_private_project_shows_its_name_and_settings_to_an_admin_but_no_figures(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.closed]\nwriter = "writer"\n')
    house.door("writer", "closed")("upsertEntry", entry=entry())
    house.door("writer")("upsertEntry", entry=entry())

    listed = {one["slug"]: one for one in admin("GET", "/projects")["items"]}

    assert listed["closed"]["settings"]["private"]
    assert listed["closed"]["permissions"] == {"writer": "writer"}
    assert (listed["closed"]["isOpen"], listed["closed"]["store"]) == (False, None)
    assert listed["projA"]["store"]["entries"] == 1
    for path in ("/problems", "/conflicts", "/held", "/audit", "/series", "/projects"):
        answer = admin.send("GET", path).json
        assert "closed:" not in str(answer)
    assert [one["project"] for one in admin("GET", "/audit")["items"]] == ["projA"]
    assert admin.fails("GET", "/problems?project=closed").status == 404
    assert admin.fails("POST", "/held/closed", {"decision": "accept"}).status == 404


def test_what_is_done_to_a_private_project_as_a_whole_is_told_only_to_who_is_listed(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    admin("PUT", "/permissions/closed", {"permissions": {"curator": "admin"}})
    admin("PUT", "/users/curator", {"tier": "admin"})
    listed, door = Console(house.client, "curator"), house.door("curator", "closed")
    door("upsertEntry", entry=entry(id="leak"))
    made = door("backupStore")["backupId"]
    listed("POST", "/backups/closed/restore", {"id": made})
    door("backupStore", mode="full")
    listed("POST", "/backups/prune", {"project": "closed", "keep": 1})
    door("eraseEntry", id="leak")
    door("purgeArchive", all=True)

    def told(console: Console) -> set[str]:
        items = console("GET", "/audit?size=500")["items"]
        return {one["command"] for one in items if "closed" in str(one)}

    assert told(listed) >= {
        *("upsertEntry", "backupStore", "restoreBackup", "pruneBackups"),
        *("eraseEntry", "purgeArchive", "setPermissions"),
    }
    assert told(admin) == {"setPermissions"}


def test_settings_of_a_project_are_changed_and_go_back_to_their_default(
    house: House, admin: Console
) -> None:
    admin("PATCH", "/projects/PROJB", {"settings": {"name": "B", "secrets": "refuse"}})
    assert endpoints(house)["projB"] == {
        "slug": "projB",
        "toolsets": list(Toolset),
        "includeShared": False,
        "name": "B",
        "secrets": "refuse",
    }

    admin("PATCH", "/projects/projB", {"settings": {"includeShared": None, "name": None}})

    kept = {"slug": "projB", "toolsets": list(Toolset), "secrets": "refuse"}
    assert endpoints(house)["projB"] == kept


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "/projects", {"slug": "projA"}, 409),
        ("POST", "/projects", {"slug": "PROJa"}, 409),
        ("POST", "/projects", {"slug": "a/b"}, 400),
        ("POST", "/projects", {"slug": "con"}, 400),
        ("POST", "/projects", {"slug": ""}, 400),
        ("POST", "/projects", {"slug": "x", "settings": {"secrets": "shout"}}, 400),
        ("POST", "/projects", {"slug": "x", "settings": {"maxEntries": -1}}, 400),
        ("POST", "/projects", {"slug": "x", "settings": {"defaultToolsets": ["code"]}}, 400),
        ("POST", "/projects", {"slug": "x", "settings": {"storagePath": "projA"}}, 400),
        ("PATCH", "/projects/nowhere", {"settings": {"name": "x"}}, 404),
        ("PATCH", "/projects/projA", {"settings": {"storagePath": "other"}}, 400),
        ("PATCH", "/projects/projA", {"settings": {"colour": "blue"}}, 400),
        ("POST", "/projects/nowhere/rename", {"to": "x"}, 404),
        ("POST", "/projects/projA/rename", {"to": "projB"}, 409),
        ("POST", "/projects/projA/rename", {"to": ".."}, 400),
        ("DELETE", "/projects/nowhere?confirm=nowhere", None, 404),
        ("DELETE", "/projects/projA", None, 400),
        ("DELETE", "/projects/projA?confirm=projB", None, 400),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    house: House, admin: Console, method: str, path: str, content: Any, status: int
) -> None:
    before = house.toml.read_bytes()

    assert admin.fails(method, path, content).status == status
    assert house.toml.read_bytes() == before


@pytest.mark.attack(31)
@pytest.mark.parametrize(
    "place", ["/etc", "../../x", "a/../../b", "link", "\\\\h\\s", "C:\\x", "C:x", "con", "~\0"]
)
def test_a_project_cannot_be_put_outside_the_root(
    house: House, admin: Console, tmp_path_factory: pytest.TempPathFactory, place: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (house.root / "MemoryStores").mkdir(exist_ok=True)
    (house.root / "MemoryStores" / "link").symlink_to(outside)

    refusal = admin.fails("POST", "/projects", {"slug": "new", "settings": {"storagePath": place}})

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert "new" not in endpoints(house)
    assert list(outside.iterdir()) == []


@pytest.mark.attack(31)
@pytest.mark.parametrize("field", ["storageRoot", "backupRoot"])
def test_the_configuration_cannot_lead_outside_the_root_over_http(
    house: House, admin: Console, field: str
) -> None:
    shown = admin("GET", "/config")
    text = f'[global]\n{field} = "/etc"\n{shown["text"]}'

    assert not admin("POST", "/config/validate", {"text": text})["valid"]
    refusal = admin.fails("PUT", "/config", {"text": text, "ifVersion": shown["version"]})

    assert (refusal.status, refusal.details["field"]) == (400, f"global.{field}")


@pytest.mark.attack(68)
@pytest.mark.parametrize("name", ['x"\n[users.eve]\ntier = "admin"', "'''", "a\\b", "ü # y"])
def test_toml_in_the_name_of_a_project_stays_a_name(
    house: House, admin: Console, name: str
) -> None:
    admin("POST", "/projects", {"slug": "new", "settings": {"name": name, "description": name}})

    assert endpoints(house)["new"]["name"] == name
    assert "eve" not in house.configuration.settings.users
    shown = {one["slug"]: one["settings"]["name"] for one in admin("GET", "/projects")["items"]}
    assert shown["new"] == name


def test_a_project_that_is_removed_leaves_its_files_with_the_backups(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.door("writer")("upsertEntry", entry=entry(title="Keep me"))
    before = house.door("reader", "absent").send("listEntries", {})

    answer = admin("DELETE", "/projects/projA?confirm=projA")

    assert "projA" not in endpoints(house)
    assert not house.entries_file().parent.exists()
    kept = house.root / answer["keptIn"]
    assert kept.parent.parent == house.root / "Backups"
    assert "Keep me" in (kept / "entries.jsonl").read_text(encoding="utf-8")
    gone = house.door("reader", "projA").send("listEntries", {})
    assert (gone.status, gone.body) == (before.status, before.body)


def test_a_project_of_the_same_name_begins_empty(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.door("writer")("upsertEntry", entry=entry())
    admin("DELETE", "/projects/projA?confirm=projA")

    admin("POST", "/projects", {"slug": "projA"})

    assert house.door("writer")("listEntries")["items"] == []


def test_a_project_without_files_is_removed_too(house: House, admin: Console) -> None:
    assert admin("DELETE", "/projects/projB?confirm=projB")["keptIn"] is None


def test_files_that_cannot_go_to_the_backups_stay_beside_the_others(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.door("writer")("upsertEntry", entry=entry())
    (house.root / "Backups").write_bytes(b"a file where a folder should be")

    answer = admin("DELETE", "/projects/projA?confirm=projA")

    kept = house.root / answer["keptIn"]
    assert kept.parent == house.entries_file().parent.parent
    assert kept.name.startswith("projA.")
    assert (kept / "entries.jsonl").exists()


def test_what_was_done_to_a_removed_project_is_audited_without_its_ids(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.door("writer")("upsertEntry", entry=entry())
    admin("DELETE", "/projects/projA?confirm=projA")

    newest, older = admin("GET", "/audit")["items"]

    assert newest["changes"][0]["id"] == "projects/projA"
    assert (older["project"], older["command"], older["changes"]) == ("projA", "upsertEntry", [])


def test_a_project_with_entries_keeps_its_slug(
    house: House, admin: Console, entry: EntryMaker
) -> None:
    house.door("writer")("upsertEntry", entry=entry())

    refusal = admin.fails("POST", "/projects/projA/rename", {"to": "renamed"})

    assert (refusal.status, refusal.code) == (409, "conflict")
    assert "change its name instead" in refusal.message


def test_an_empty_project_is_renamed_with_its_settings_folder_and_permissions(
    house: House, admin: Console, tmp_path: Path
) -> None:
    admin("PUT", "/permissions/projB", {"permissions": {"reader": "writer"}})
    house.store("projB")

    admin("POST", "/projects/projB/rename", {"to": "renamed"})

    assert endpoints(house)["renamed"] == {
        "slug": "renamed",
        "toolsets": list(Toolset),
        "includeShared": False,
        "storagePath": "projB",
    }
    assert house.door("reader", "projB").fails("listEntries").status == 404
    made = house.door("reader", "renamed")("upsertEntry", entry={"kind": "note", "body": "x"})
    assert made["id"].startswith("renamed:")
    house.store("renamed").fold()
    assert "renamed:" in house.entries_file("projB").read_text(encoding="utf-8")


def test_only_the_case_of_a_slug_can_be_changed(house: House, admin: Console) -> None:
    admin("POST", "/projects/projB/rename", {"to": "ProjB"})

    assert list(endpoints(house)) == ["shared", "projA", "closed", "ProjB"]


@pytest.mark.parametrize(
    ("method", "path", "content", "field"),
    [
        ("POST", "/projects", {"slug": "con"}, "slug"),
        ("POST", "/projects", {"slug": "a b"}, "slug"),
        (
            "POST",
            "/projects",
            {"slug": "new", "settings": {"maxEntries": -1}},
            "settings.maxEntries",
        ),
        (
            "POST",
            "/projects",
            {"slug": "new", "settings": {"storagePath": "/etc"}},
            "settings.storagePath",
        ),
        ("PATCH", "/projects/projA", {"settings": {"maxMegabytes": -1}}, "settings.maxMegabytes"),
        ("POST", "/projects/projB/rename", {"to": ".."}, "to"),
        ("POST", "/users", {"user": "", "tier": "none"}, "user"),
        ("POST", "/users", {"user": "a\nb", "tier": "none"}, "user"),
        (
            "PUT",
            "/backups/schedule",
            {"cadence": "often", "timeZone": "local", "mode": "full", "keep": 3},
            "cadence",
        ),
    ],
)
def test_a_refusal_names_the_field_of_the_request_and_no_line_of_the_file(
    admin: Console, method: str, path: str, content: dict[str, object], field: str
) -> None:
    refusal = admin.fails(method, path, content)

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert (refusal.details["field"], refusal.details.get("line")) == (field, None)
    assert refusal.message.startswith(f"{field}: ")
