from datetime import timedelta

import pytest

from qms.app.table import TABLE
from qms.config import toml_file
from qms.config.configuration import Configuration
from qms.features.entries.entries import UpsertAnswer
from qms.memory.access import LOCAL_ADMIN, AccessTier, Caller
from qms.memory.errors import NotAllowedError, NotAuthenticatedError, NotFoundError
from tests.conftest import EntryMaker
from tests.support.console import Console
from tests.support.house import House, key_of


def test_the_owner_of_the_machine_needs_no_key(house: House, entry: EntryMaker) -> None:
    answer = house.gate.call(LOCAL_ADMIN, "closed", "upsertEntry", {"entry": entry()})

    assert isinstance(answer, UpsertAnswer)
    assert answer.created
    with pytest.raises(NotFoundError):
        house.gate.call(LOCAL_ADMIN, "absent", "listEntries", {})


def test_a_local_caller_has_its_own_tier_and_no_more(house: House, entry: EntryMaker) -> None:
    reader = Caller(user="local", access=AccessTier.READER)

    with pytest.raises(NotAllowedError):
        house.gate.call(reader, "projA", "upsertEntry", {"entry": entry()})


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_a_key_that_nobody_holds_authenticates_nobody(house: House, key: str | None) -> None:
    with pytest.raises(NotAuthenticatedError):
        house.gate.authenticate(key)


def test_a_key_authenticates_its_user_with_its_id(house: House) -> None:
    match = house.gate.authenticate(key_of("writer"))

    assert match.user == "writer"
    assert match.key_id == house.configuration.settings.users["writer"].keys[0].id


def test_a_request_is_not_changed_by_the_call(house: House, entry: EntryMaker) -> None:
    given = entry(id="x", project="projA")
    request = {"project": "projA", "entry": given}
    copy = {**request, "entry": dict(given)}

    house.gate.call(LOCAL_ADMIN, "projA", "upsertEntry", request)

    assert request == copy


def test_an_administrator_never_gets_old_settings_under_a_new_version(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = {name: getattr(Configuration, name).fget for name in ("version", "settings")}
    is_due = True

    def edited_after(name: str) -> property:
        """Return a property after whose first reading somebody saves the file."""

        def get(made: Configuration) -> object:
            nonlocal is_due
            value = read[name](made)
            if is_due:
                is_due = False
                made.edit(lambda text: toml_file.set_user(text, "late", AccessTier.READER))
            return value

        return property(get)

    for name in read:
        monkeypatch.setattr(Configuration, name, edited_after(name))

    answer = house.gate.call(LOCAL_ADMIN, None, "listUsers", {})

    assert not is_due
    has_new_settings = any(one.name == "late" for one in answer.items)
    assert has_new_settings or answer.version != house.configuration.version


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_closed_project_is_answered_by_the_same_thread_as_an_absent_one(
    house: House, is_loaded: bool
) -> None:
    if is_loaded:
        house.store("closed")
        house.store("shared")
    who, services = house.gate.authenticate(key_of("admin")), house.gate
    names = [row.name for row in TABLE]

    closed, absent = (
        [services.admit(who, slug, name) for name in names] for slug in ("closed", "absent")
    )
    for one, other in zip(closed, absent, strict=True):
        assert (one.runs_inline, one.waits_for_store) == (other.runs_inline, other.waits_for_store)
    own = (services.admit(LOCAL_ADMIN, "closed", name) for name in names)
    assert any(one.runs_inline for one in own) is is_loaded


@pytest.mark.parametrize("command", TABLE, ids=lambda command: command.name)
def test_hints_of_a_command_do_not_contradict_each_other(command: object) -> None:
    row = next(one for one in TABLE if one is command)

    assert not (row.read_only and row.destructive)
    assert row.read_only or row.least >= AccessTier.WRITER
    assert row.help
    assert not row.help.endswith(".")
    assert "\n" not in row.help


@pytest.mark.attack(4)
def test_a_revoked_key_is_no_longer_admitted_although_its_user_has_another(house: House) -> None:
    services = house.gate
    first = services.authenticate(key_of("reader"))
    made = services.call(LOCAL_ADMIN, None, "createKey", {"user": "reader"})
    second = services.authenticate(made.key)
    assert services.still_opens(first, "projA")

    services.call(LOCAL_ADMIN, None, "revokeKey", {"id": first.key_id})

    assert [services.still_opens(who, "projA") for who in (first, second)] == [False, True]


@pytest.mark.attack(4)
def test_a_key_is_no_longer_admitted_from_its_end_on(house: House) -> None:
    services, end = house.gate, house.clock.now + timedelta(hours=1)
    request = {"user": "reader", "expiresUtc": end.isoformat()}
    made = services.call(LOCAL_ADMIN, None, "createKey", request)
    who = services.authenticate(made.key)

    house.clock.move(minutes=59)
    assert services.still_opens(who, "projA")
    house.clock.move(minutes=1)
    assert not services.still_opens(who, "projA")


def test_a_key_is_no_longer_admitted_to_a_project_that_is_closed_to_its_user(house: House) -> None:
    who = house.gate.authenticate(key_of("reader"))

    house.reconfigure(lambda text: f'{text}\n[permissions.projA]\nreader = "none"\n')

    assert [house.gate.still_opens(who, slug) for slug in ("projA", "projB")] == [False, True]


def test_care_runs_its_own_commands_only_whatever_toolsets_a_project_allows(house: House) -> None:
    house.allow("core")
    console = Console(house.client)

    for row in TABLE:
        if not row.care:
            assert console.fails("POST", f"/stores/projA/{row.name}", {}).code == "notFound"
    assert console("POST", "/stores/projA/reloadStore", {})["settled"]
