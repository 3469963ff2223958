import pytest

from qms.domain.access import LOCAL_ADMIN, AccessTier, Caller
from qms.domain.errors import NotAllowedError, NotAuthenticatedError, NotFoundError
from qms.service.entries import UpsertAnswer
from qms.service.table import TABLE
from tests.conftest import EntryMaker
from tests.support.house import House, key_of


def test_the_owner_of_the_machine_needs_no_key(house: House, entry: EntryMaker) -> None:
    answer = house.services.call(LOCAL_ADMIN, "closed", "upsertEntry", {"entry": entry()})

    assert isinstance(answer, UpsertAnswer)
    assert answer.created
    with pytest.raises(NotFoundError):
        house.services.call(LOCAL_ADMIN, "absent", "listEntries", {})


def test_a_local_caller_has_its_own_tier_and_no_more(house: House, entry: EntryMaker) -> None:
    reader = Caller(user="local", access=AccessTier.READER)

    with pytest.raises(NotAllowedError):
        house.services.call(reader, "projA", "upsertEntry", {"entry": entry()})


@pytest.mark.parametrize("key", [None, "", "wrong"])
def test_a_key_that_nobody_holds_authenticates_nobody(house: House, key: str | None) -> None:
    with pytest.raises(NotAuthenticatedError):
        house.services.authenticate(key)


def test_a_key_authenticates_its_user_with_its_id(house: House) -> None:
    match = house.services.authenticate(key_of("writer"))

    assert match.user == "writer"
    assert match.key_id == house.configuration.settings.users["writer"].keys[0].id


def test_a_request_is_not_changed_by_the_call(house: House, entry: EntryMaker) -> None:
    given = entry(id="x", project="projA")
    request = {"project": "projA", "entry": given}
    copy = {**request, "entry": dict(given)}

    house.services.call(LOCAL_ADMIN, "projA", "upsertEntry", request)

    assert request == copy


@pytest.mark.parametrize("is_loaded", [False, True])
def test_a_closed_project_is_answered_by_the_same_thread_as_an_absent_one(
    house: House, is_loaded: bool
) -> None:
    if is_loaded:
        house.store("closed")
        house.store("shared")
    who, services = house.services.authenticate(key_of("admin")), house.services
    names = [row.name for row in TABLE]

    for ask in (services.runs_inline, services.waits_for_store):
        closed, absent = ([ask(who, slug, name) for name in names] for slug in ("closed", "absent"))
        assert closed == absent
    assert any(services.runs_inline(LOCAL_ADMIN, "closed", name) for name in names) is is_loaded


@pytest.mark.parametrize("command", TABLE, ids=lambda command: command.name)
def test_hints_of_a_command_do_not_contradict_each_other(command: object) -> None:
    row = next(one for one in TABLE if one is command)

    assert not (row.read_only and row.destructive)
    assert row.read_only or row.least >= AccessTier.WRITER
    assert row.help
    assert not row.help.endswith(".")
    assert "\n" not in row.help
