"""Sessions of the revisions that have them: whose they are, how many, and when they end."""

import pytest

from qms.mcp.project_servers import SessionLimits
from qms.memory.access import LOCAL_ADMIN
from tests.mcp.conftest import SessionMaker
from tests.support.house import House, key_of
from tests.support.mcp import SessionClient


def status(client: SessionClient) -> int:
    return client.send("tools/list").status


def sweep(house: House) -> None:
    """Do at once what the server does every minute."""
    house.client.run(house.endpoints.sweep())


def test_a_session_goes_on_until_its_client_ends_it(session: SessionMaker) -> None:
    client = session()
    assert status(client) == 200

    assert client.end().status == 200

    assert status(client) == 404


def test_a_session_of_another_user_is_as_unknown(session: SessionMaker) -> None:
    mine, other = session("writer"), session("reader")
    other.session, own = mine.session, other.session

    taken = other.send("tools/list")
    other.session = "0" * 32
    unknown = other.send("tools/list")
    other.session = own

    assert taken.status == 404
    assert taken == unknown
    assert status(mine) == status(other) == 200


def test_nobody_else_ends_or_overhears_a_session(session: SessionMaker) -> None:
    mine, other = session("writer"), session("reader")
    other.session = mine.session

    assert other.end().status == 404
    assert other.listen().result().status == 404
    assert status(mine) == 200


def test_a_session_holds_in_its_own_project_only(session: SessionMaker) -> None:
    here, there = session("writer", "projA"), session("writer", "projB")
    there.session = here.session

    assert status(there) == 404


def test_a_session_goes_on_with_another_key_of_its_user(
    house: House, session: SessionMaker
) -> None:
    client = session("writer")
    tier, client.key = 'tier = "writer"\napiKey = ', "qms_another_key_of_the_writer"
    house.reconfigure(lambda text: text.replace(f'{tier}""', f'{tier}"{client.key}"'))

    assert status(client) == 200


@pytest.mark.attack(4)
def test_a_session_ends_with_the_key_that_it_was_last_used_with(
    house: House, session: SessionMaker
) -> None:
    services = house.gate
    made = services.call(LOCAL_ADMIN, None, "createKey", {"user": "writer"})
    first, second = key_of("writer"), made.key
    client = session("writer")
    client.key = second
    assert status(client) == 200

    services.call(LOCAL_ADMIN, None, "revokeKey", {"id": services.authenticate(first).key_id})
    sweep(house)
    assert status(client) == 200

    again = services.call(LOCAL_ADMIN, None, "createKey", {"user": "writer"})
    services.call(LOCAL_ADMIN, None, "revokeKey", {"id": services.authenticate(second).key_id})
    sweep(house)
    client.key = again.key
    assert status(client) == 404


def test_a_session_ends_with_its_key(house: House, session: SessionMaker) -> None:
    client, kept = session("writer"), session("reader")
    stream = client.listen()

    def without_writer(text: str) -> str:
        head, _, tail = text.partition("[users.writer]")
        return head + "[users.curator]" + tail.partition("[users.curator]")[2]

    house.reconfigure(without_writer)
    stream.result()

    assert status(client) == 401
    assert status(kept) == 200


def test_a_session_ends_with_the_access_to_its_project(house: House, session: SessionMaker) -> None:
    client = session("writer")
    stream = client.listen()

    house.reconfigure(lambda text: f'{text}\n[permissions.projA]\nwriter = "none"\n')
    stream.result()

    assert status(client) == 404


def test_a_session_ends_with_its_project_and_another_project_appears(
    house: House, session: SessionMaker
) -> None:
    client = session("writer", "projB")
    stream = client.listen()

    house.reconfigure(lambda text: text.replace("projB", "projC"))
    house.catalog.register(["projC"])
    stream.result()

    assert status(client) == 404
    assert status(session("writer", "projC")) == 200


def test_a_user_who_opens_too_many_sessions_loses_the_oldest(
    house: House, session: SessionMaker
) -> None:
    house.endpoints.limits = SessionLimits(per_user=2)
    other = session("reader")

    first, second, third = (session("writer") for _ in range(3))

    assert [status(one) for one in (first, second, third, other)] == [404, 200, 200, 200]


def test_no_session_outlives_its_age(house: House, session: SessionMaker) -> None:
    client = session()
    sweep(house)
    assert status(client) == 200

    house.endpoints.limits = SessionLimits(max_age_s=-1.0)
    sweep(house)

    assert status(client) == 404


def test_an_endpoint_that_nobody_uses_is_dropped_and_made_again(
    house: House, session: SessionMaker
) -> None:
    client = session()
    house.endpoints.limits = SessionLimits(idle_s=-1.0)
    sweep(house)
    assert house.endpoints.session_counts == {"projA": 1}

    client.end()
    sweep(house)

    assert house.endpoints.session_counts == {}
    house.endpoints.limits = SessionLimits()
    assert status(session()) == 200


def test_a_message_without_a_session_opens_none(house: House, session: SessionMaker) -> None:
    client = session()
    client.session = ""

    assert status(client) == 400
    assert house.endpoints.session_counts == {"projA": 1}


def test_closing_ends_every_stream(house: House, session: SessionMaker) -> None:
    stream = session().listen()

    async def close() -> None:
        house.endpoints.close()

    house.client.run(close())

    assert stream.result().status == 200


def test_the_log_level_is_taken(session: SessionMaker) -> None:
    assert session().result("logging/setLevel", {"level": "warning"}) == {}


def test_ping_is_answered(session: SessionMaker) -> None:
    assert session().result("ping") == {}
