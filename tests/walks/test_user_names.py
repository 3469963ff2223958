"""Names of users: what a new one may be, what an old one keeps, and how they are compared."""

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import qms
from qms.config import toml_file
from qms.config.convert import Standing
from qms.config.toml_change import put
from qms.config.toml_file import parse
from qms.memory.access import AUDIT_USERS, LOCAL_ADMIN, AccessTier
from qms.memory.errors import ConflictError, InvalidInputError
from tests.support.console import Console
from tests.support.house import CONFIGURATION, Clock, House

HouseMaker = Callable[[str], House]

ODD_NAMES = [
    *("Alice", "alice smith", ".hidden", "-x", "_x", "@x", "a/b", "x" * 65, "käthe", "\u0430lice"),
    *("[users.admin]", "'''", "# comment", "x\\u0041", "ſystem", "a,b", "a:b"),
]
LOOK_ALIKES = ["ADMIN", "Reader", "wriTer"]
AUDIT_NAMES = sorted(AUDIT_USERS) + [name.upper() for name in sorted(AUDIT_USERS)]


def with_user(name: str) -> str:
    return put(CONFIGURATION, ("users", name, "tier"), "reader")


@pytest.fixture
def started(tmp_path: Path, clock: Clock, request: pytest.FixtureRequest) -> HouseMaker:
    """Start a house on a text, as after an upgrade."""

    def start(text: str) -> House:
        house = House(tmp_path, clock, text=text)
        request.addfinalizer(house.close)
        return house

    return start


@pytest.mark.attack(91)
@pytest.mark.parametrize("name", [*ODD_NAMES, *LOOK_ALIKES, *AUDIT_NAMES])
def test_no_edit_brings_in_a_name_that_is_odd_or_looks_like_another(
    house: House, name: str
) -> None:
    console, before = Console(house.client), house.toml.read_bytes()
    version = console("GET", "/config")["version"]

    made = console.fails("POST", "/users", {"user": name, "tier": "admin"})
    with pytest.raises((InvalidInputError, ConflictError)):
        house.gate.call(LOCAL_ADMIN, None, "createUser", {"user": name, "tier": "admin"})

    assert (made.status, made.code) in ((400, "invalidInput"), (409, "conflict"))
    assert house.toml.read_bytes() == before
    keyed = f'\n[users."{name.encode("unicode_escape").decode()}"]\napiKey = "qms_{"k" * 40}"\n'
    if "\\" in name:
        return
    text = console("GET", "/config")["text"] + keyed.encode().decode("unicode_escape")
    saved = console.fails("PUT", "/config", {"text": text, "ifVersion": version})
    assert (saved.status, saved.code) == (400, "invalidInput")
    assert house.toml.read_bytes() == before


@pytest.mark.attack(91)
@pytest.mark.parametrize("name", ["Alice", "ADMIN", "system", "hand-edit"])
def test_an_edit_by_hand_that_adds_such_a_name_is_not_taken(house: House, name: str) -> None:
    house.reconfigure(lambda text: f'{text}\n[users.{name}]\ntier = "admin"\n')

    assert house.configuration.error is not None
    assert house.configuration.error.field == f"users.{name}"
    assert name not in house.configuration.settings.users


@pytest.mark.parametrize("name", ["a", "0", "a.b_c@d-e", "x" * 64, "alice@example.com", "1-2"])
def test_a_plain_name_is_taken(house: House, name: str) -> None:
    Console(house.client)("POST", "/users", {"user": name, "tier": "reader"})

    assert house.configuration.settings.users[name].access is AccessTier.READER
    assert house.configuration.warnings == ()


@pytest.mark.attack(68)
@pytest.mark.attack(91)
@pytest.mark.parametrize(
    "name", [*ODD_NAMES, 'x"] tier = "admin"', "system", "hand-edit", "käthe müller"]
)
def test_an_odd_name_that_the_file_has_keeps_working_and_is_reported(
    started: HouseMaker, name: str
) -> None:
    house = started(with_user(name))
    console = Console(house.client)

    made = console("POST", "/keys", {"user": name, "label": name})
    console("PUT", "/permissions/projA", {"permissions": {name: "writer"}})
    console("POST", "/users", {"user": "newcomer", "tier": "reader"})

    assert house.gate.authenticate(made["key"]).user == name
    written = tomllib.loads(house.toml.read_text(encoding="utf-8"))
    assert written["users"][name]["keys"][0]["label"] == name
    assert written["permissions"]["projA"] == {name: "writer"}
    [warning] = console("GET", "/config")["warnings"]
    assert (warning["standing"], warning["field"]) == (
        "kept",
        toml_file.field_name(("users", name)),
    )
    assert house.door("admin")("health")["problems"] == []
    console("DELETE", f"/users/{quote(name, safe='')}")
    assert house.configuration.warnings == ()


def test_two_names_that_differ_in_case_alone_both_keep_working(started: HouseMaker) -> None:
    house = started(with_user("Reader"))
    console = Console(house.client)

    console("PUT", "/users/Reader", {"tier": "none"})

    users = house.configuration.settings.users
    assert (users["Reader"].access, users["reader"].access) == (AccessTier.NONE, AccessTier.READER)
    [warning] = house.configuration.warnings
    assert "differs from user reader" in warning.reason


def test_users_are_found_without_case(house: House) -> None:
    console = Console(house.client)

    console("PUT", "/users/READER", {"tier": "writer"})
    made = console("POST", "/keys", {"user": "Reader"})
    console("PUT", "/permissions/projA", {"permissions": {"READER": "curator"}})

    assert house.gate.authenticate(made["key"]).user == "reader"
    assert console("GET", "/keys?user=READER")["items"][0]["user"] == "reader"
    assert list(house.configuration.settings.permissions["projA"]) == ["reader"]
    console("DELETE", "/users/Reader")
    assert "reader" not in house.configuration.settings.users
    assert house.configuration.settings.permissions["projA"] == {}


def test_a_permission_counts_however_its_user_is_spelled(house: House) -> None:
    house.reconfigure(lambda text: text + '\n[permissions.projA]\nWriter = "none"\n')

    assert house.door("writer").fails("listEntries").status == 404
    Console(house.client)("PUT", "/permissions/projA", {"permissions": {"writer": "reader"}})
    written = tomllib.loads(house.toml.read_text(encoding="utf-8"))
    assert written["permissions"]["projA"] == {"Writer": "reader"}
    Console(house.client)("PUT", "/permissions/projA", {"permissions": {}})
    assert house.configuration.settings.permissions["projA"] == {}


def test_of_two_spellings_in_a_list_the_exact_one_counts() -> None:
    listed = '[permissions.projA]\nWRITER = "admin"\nwriter = "reader"\n'

    settings, warnings = parse(CONFIGURATION + listed)

    assert settings.permissions["projA"] == {"writer": AccessTier.READER}
    assert [one.field for one in warnings] == ["permissions.projA.WRITER"]


def test_the_owner_of_the_machine_has_a_tier_in_the_file_but_no_key() -> None:
    _, without = parse('[users.local]\ntier = "reader"\n')
    _, keyed = parse(f'[users.local]\ntier = "reader"\napiKey = "qms_{"k" * 40}"\n')

    assert without == []
    assert [one.standing for one in keyed] == [Standing.KEPT]


def test_the_audit_log_uses_no_other_names_of_its_own() -> None:
    named: dict[Path, list[Any]] = {}
    for path in Path(qms.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Call):
                given = [one.value for one in node.keywords if one.arg == "user"]
                named.setdefault(path, []).extend(
                    one.value for one in given if isinstance(one, ast.Constant)
                )

    found = {path.name: names for path, names in named.items() if names}
    assert found == {}
    assert {"hand-edit", "local", "system"} == AUDIT_USERS
