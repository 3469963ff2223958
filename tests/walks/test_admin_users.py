"""Users, keys and permissions over `/admin`: kept in the TOML, in force at once, audited."""

import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from qms.memory.access import LOCAL_ADMIN
from tests.support.asgi import AsgiClient
from tests.support.console import Console
from tests.support.house import Clock, House, key_of


@pytest.fixture
def admin(client: AsgiClient) -> Console:
    return Console(client)


def toml_of(house: House) -> dict[str, Any]:
    return tomllib.loads(house.toml.read_text(encoding="utf-8"))


def last_event(admin: Console) -> dict[str, Any]:
    event: dict[str, Any] = admin("GET", "/audit?size=1")["items"][0]
    return event


def test_users_are_listed_with_where_they_are_listed(house: House, admin: Console) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.closed]\nreader = "writer"\n')

    listed = admin("GET", "/users")

    users = {one["name"]: one for one in listed["items"]}
    assert users["reader"]["permissions"] == {"closed": "writer"}
    assert users["admin"] == {
        "name": "admin",
        "tier": "admin",
        "keys": 1,
        "permissions": {},
        "isLastAdmin": True,
    }
    assert listed["version"] == house.configuration.version
    assert "sha256" not in str(listed)


def test_a_user_is_made_changed_and_removed(house: House, admin: Console) -> None:
    made = admin("POST", "/users", {"user": "alice", "tier": "writer"})
    assert toml_of(house)["users"]["alice"] == {"tier": "writer"}
    assert made == {"version": house.configuration.version}

    admin("PUT", "/users/alice", {"tier": "curator", "ifVersion": made["version"]})
    assert house.configuration.settings.users["alice"].access.label == "curator"

    admin("DELETE", "/users/alice")
    assert "alice" not in toml_of(house)["users"]


def test_every_change_is_audited_with_who_what_and_the_new_version(
    house: House, admin: Console
) -> None:
    made = admin("POST", "/users", {"user": "alice", "tier": "writer"})

    event = last_event(admin)

    assert (event["project"], event["user"], event["command"]) == ("", "admin", "createUser")
    assert event["keyId"] == house.gate.authenticate(key_of("admin")).key_id
    assert event["changes"] == [{"op": "create", "id": "users/alice", "version": made["version"]}]
    assert house.audit.verify() is None


def test_comments_and_order_survive_a_change(house: House, admin: Console) -> None:
    house.reconfigure(lambda text: f"# mine\n{text}\n# the end\n")
    before = house.toml.read_text(encoding="utf-8")

    admin("POST", "/users", {"user": "alice", "tier": "writer"})
    admin("DELETE", "/users/alice")

    assert house.toml.read_text(encoding="utf-8") == before


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "/users", {"user": "reader", "tier": "admin"}, 409),
        ("POST", "/users", {"user": "", "tier": "admin"}, 400),
        ("POST", "/users", {"user": "a\nb", "tier": "admin"}, 400),
        ("POST", "/users", {"user": "x" * 129, "tier": "admin"}, 400),
        ("POST", "/users", {"user": "alice", "tier": "owner"}, 400),
        ("POST", "/users", {"user": "alice"}, 400),
        ("PUT", "/users/nobody", {"tier": "reader"}, 404),
        ("DELETE", "/users/nobody", None, 404),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(
    house: House, admin: Console, method: str, path: str, content: Any, status: int
) -> None:
    before = house.toml.read_bytes()

    assert admin.fails(method, path, content).status == status
    assert house.toml.read_bytes() == before


@pytest.mark.attack(74)
@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("POST", "/users", {"user": "alice", "tier": "reader"}),
        ("PUT", "/users/reader", {"tier": "none"}),
        ("POST", "/keys", {"user": "reader"}),
        ("PUT", "/permissions/projA", {"permissions": {"reader": "none"}}),
        ("POST", "/projects", {"slug": "new"}),
        ("PATCH", "/projects/projA", {"settings": {"name": "A"}}),
        ("POST", "/projects/projA/rename", {"to": "projZ"}),
        ("PUT", "/config", {"text": ""}),
        ("DELETE", "/users/reader?ifVersion=0", None),
        ("DELETE", "/projects/projA?confirm=projA&ifVersion=0", None),
    ],
)
def test_a_change_made_from_an_old_version_is_a_conflict(
    house: House, admin: Console, method: str, path: str, content: dict[str, Any] | None
) -> None:
    before = house.toml.read_bytes()
    stale = None if content is None else {**content, "ifVersion": "0123456789abcdef"}

    refusal = admin.fails(method, path, stale)

    assert (refusal.status, refusal.code) == (409, "conflict")
    assert house.toml.read_bytes() == before


@pytest.mark.attack(69)
@pytest.mark.parametrize("way", ["remove", "tier", "key", "expired others", "config"])
def test_the_last_admin_stays(house: House, admin: Console, clock: Clock, way: str) -> None:
    admin("POST", "/users", {"user": "second", "tier": "admin"})
    admin("POST", "/keys", {"user": "second", "expiresUtc": "2026-03-01T12:30:00Z"})
    clock.move(hours=1)
    (key,) = admin("GET", "/keys?user=admin")["items"]
    before = house.toml.read_bytes()
    match way:
        case "remove" | "expired others":
            refusal = admin.fails("DELETE", "/users/admin")
        case "tier":
            refusal = admin.fails("PUT", "/users/admin", {"tier": "curator"})
        case "key":
            refusal = admin.fails("DELETE", f"/keys/{key['id']}")
        case _:
            shown = admin("GET", "/config")
            text = shown["text"].replace('tier = "admin"', 'tier = "reader"')
            checked = admin("POST", "/config/validate", {"text": text})
            assert "no administrator" in checked["error"]["reason"]
            saved = {"text": text, "ifVersion": shown["version"]}
            refusal = admin.fails("PUT", "/config", saved)

    assert (refusal.status, refusal.code) == (409, "conflict")
    assert "no administrator" in refusal.message
    assert house.toml.read_bytes() == before


def test_a_key_is_shown_once_and_kept_as_its_hash(house: House, admin: Console) -> None:
    made = admin("POST", "/keys", {"user": "reader", "label": "laptop"})

    assert house.gate.authenticate(made["key"]).key_id == made["id"]
    assert made["key"] not in house.toml.read_text(encoding="utf-8")
    listed = admin("GET", "/keys?user=reader")
    assert made["key"] not in str(listed)
    assert [key["label"] for key in listed["items"]] == ["apiKey", "laptop"]
    assert set(listed["items"][1]) == {
        "id",
        "user",
        "label",
        "createdUtc",
        "expiresUtc",
        "isExpired",
        "lastUsedUtc",
    }
    assert made["key"] not in (house.root / "logs" / "audit.jsonl").read_text(encoding="utf-8")


@pytest.mark.attack(4)
def test_a_revoked_key_opens_nothing_and_the_others_stay(house: House, admin: Console) -> None:
    made = admin("POST", "/keys", {"user": "reader"})

    admin("DELETE", f"/keys/{made['id']}")

    answer = house.client.post("/api/v1/projA/listEntries", {}, key=made["key"])
    assert answer.status == 401
    assert house.door("reader")("listEntries")["items"] == []


def test_a_key_ends_when_it_was_said_to(house: House, admin: Console, clock: Clock) -> None:
    made = admin("POST", "/keys", {"user": "reader", "expiresUtc": "2026-03-01T13:00:00Z"})
    assert house.client.post("/api/v1/projA/health", {}, key=made["key"]).status == 200

    clock.move(hours=1)

    assert house.client.post("/api/v1/projA/health", {}, key=made["key"]).status == 401
    (ended,) = [key for key in admin("GET", "/keys")["items"] if key["id"] == made["id"]]
    assert ended["isExpired"]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ({"user": "nobody"}, 404),
        ({"user": "reader", "expiresUtc": "2026-03-01T12:00:00Z"}, 400),
        ({"user": "reader", "expiresUtc": "soon"}, 400),
        ({"user": "reader", "label": "x" * 201}, 400),
        ({"label": "x"}, 400),
    ],
)
def test_a_key_that_cannot_be_is_not_made(
    house: House, admin: Console, content: Any, status: int
) -> None:
    before = house.toml.read_bytes()

    assert admin.fails("POST", "/keys", content).status == status
    assert house.toml.read_bytes() == before


def test_keys_of_nobody_and_unknown_keys_are_not_found(admin: Console) -> None:
    assert admin.fails("GET", "/keys?user=nobody").status == 404
    assert admin.fails("DELETE", "/keys/nothing").status == 404


def test_permissions_say_what_each_user_may_do_and_why(house: House, admin: Console) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.closed]\nreader = "curator"\n')

    answer = admin("GET", "/permissions/closed")

    assert answer["private"]
    assert {one["user"]: (one["listed"], one["tier"]) for one in answer["items"]} == {
        "reader": ("curator", "curator"),
        "writer": (None, "none"),
        "curator": (None, "none"),
        "admin": (None, "none"),
    }


def test_permissions_are_replaced_as_a_whole_and_in_force_at_once(
    house: House, admin: Console
) -> None:
    admin("PUT", "/permissions/PROJa", {"permissions": {"reader": "writer", "writer": "none"}})
    assert house.door("reader")("upsertEntry", entry={"kind": "note", "body": "x"})["created"]
    assert house.door("writer").fails("listEntries").status == 404

    admin("PUT", "/permissions/projA", {"permissions": {"curator": "reader"}})

    assert toml_of(house)["permissions"]["projA"] == {"curator": "reader"}
    assert house.door("writer")("listEntries")


@pytest.mark.parametrize(
    ("path", "permissions", "status"),
    [
        ("/permissions/nowhere", {}, 404),
        ("/permissions/projA", {"nobody": "reader"}, 400),
        ("/permissions/projA", {"reader": "owner"}, 400),
        ("/permissions/projA", {"reader": None}, 400),
    ],
)
def test_permissions_that_make_no_sense_are_refused(
    admin: Console, path: str, permissions: Any, status: int
) -> None:
    assert admin.fails("PUT", path, {"permissions": permissions}).status == status


def test_a_key_says_when_it_was_last_used(house: House, admin: Console, clock: Clock) -> None:
    made = admin("POST", "/keys", {"user": "reader"})

    def last_used() -> Any:
        items = admin("GET", "/keys?user=reader")["items"]
        return next(one["lastUsedUtc"] for one in items if one["id"] == made["id"])

    assert last_used() is None
    clock.move(minutes=5)
    assert house.client.post("/api/v1/projA/health", {}, key=made["key"]).status == 200
    assert last_used() == "2026-03-01T12:05:00Z"


class EditingClock(Clock):
    """A clock that has somebody edit the configuration when it is looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.edit: Callable[[], object] | None = None

    def __call__(self) -> datetime:
        edit, self.edit = self.edit, None
        if edit is not None:
            edit()
        return super().__call__()


@pytest.mark.attack(74)
@pytest.mark.parametrize("command", ["listUsers", "listKeys", "listProjects"])
def test_a_list_made_during_a_change_does_not_carry_the_version_after_it(
    tmp_path: Path, command: str
) -> None:
    clock = EditingClock()
    house = House(tmp_path, clock)
    before = house.configuration.version
    clock.edit = lambda: house.gate.call(
        LOCAL_ADMIN, None, "createUser", {"user": "meanwhile", "tier": "reader"}
    )

    answer = house.gate.call(LOCAL_ADMIN, None, command, {})

    assert house.configuration.version != before
    assert "meanwhile" not in repr(answer)
    assert answer.version == before
    house.close()
