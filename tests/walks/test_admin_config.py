"""The configuration over `/admin`: shown without secrets, checked, compared, saved."""

import pytest

from tests.support.asgi import AsgiClient
from tests.support.console import Console
from tests.support.house import House, key_of


@pytest.fixture
def admin(client: AsgiClient) -> Console:
    return Console(client)


def hashes(house: House) -> list[str]:
    users = house.configuration.settings.users.values()
    return [record.sha256 for user in users for record in user.keys]


def test_the_text_is_shown_without_what_a_key_could_be_checked_with(
    house: House, admin: Console
) -> None:
    shown = admin("GET", "/config")

    assert shown["text"].count("masked:") == 4
    assert [one for one in hashes(house) if one in shown["text"]] == []
    assert shown["version"] == house.configuration.version
    assert (shown["warnings"], shown["error"]) == ([], None)


def test_saving_what_was_shown_changes_nothing(house: House, admin: Console) -> None:
    before = house.toml.read_bytes()
    shown = admin("GET", "/config")

    saved = admin("PUT", "/config", {"text": shown["text"], "ifVersion": shown["version"]})

    assert house.toml.read_bytes() == before
    assert saved == {"version": shown["version"]}


def test_an_edited_text_is_saved_in_force_and_audited(house: House, admin: Console) -> None:
    shown = admin("GET", "/config")
    text = f'# mine\n[global]\nlogLevel = "warning"\n{shown["text"]}'

    saved = admin("PUT", "/config", {"text": text, "ifVersion": shown["version"]})

    assert house.configuration.settings.global_.log_level == "warning"
    assert house.toml.read_text(encoding="utf-8").startswith("# mine\n")
    assert house.gate.authenticate(key_of("reader")).user == "reader"
    event = admin("GET", "/audit?command=saveConfig")["items"][0]
    assert event["changes"] == [{"op": "update", "id": "config", "version": saved["version"]}]


def test_a_text_is_checked_and_compared_without_being_saved(house: House, admin: Console) -> None:
    before = house.toml.read_bytes()
    text = admin("GET", "/config")["text"].replace(
        'slug = "projA"', 'slug = "projA"\nname = "Project A"\ncolour = "blue"'
    )

    check = admin("POST", "/config/validate", {"text": text})

    assert (check["valid"], check["error"]) == (True, None)
    assert [warning["field"] for warning in check["warnings"]] == ["endpoint.projA.colour"]
    added = [line for line in check["diff"].split("\n") if line.startswith("+")]
    assert added == ["+++ new", '+name = "Project A"', '+colour = "blue"']
    assert house.toml.read_bytes() == before


@pytest.mark.parametrize(
    ("text", "line"),
    [("[global]\nlisten = 5\n", 2), ("[global\n", 1), ("a = 1\na = 2\n", 2)],
)
def test_an_invalid_text_is_refused_with_its_line(
    house: House, admin: Console, text: str, line: int
) -> None:
    before = house.toml.read_bytes()

    check = admin("POST", "/config/validate", {"text": text})
    refusal = admin.fails(
        "PUT", "/config", {"text": text, "ifVersion": house.configuration.version}
    )

    assert (check["valid"], check["error"]["line"]) == (False, line)
    assert (refusal.status, refusal.details["line"]) == (400, line)
    assert house.toml.read_bytes() == before


def test_a_mask_that_stands_for_no_key_is_refused_with_its_line(
    house: House, admin: Console
) -> None:
    text = '[users.eve]\nkeys = [{ id = "x", sha256 = "masked:0123456789abcdef" }]\n'

    check = admin("POST", "/config/validate", {"text": text})

    assert (check["valid"], check["error"]["line"]) == (False, 2)


def test_a_text_must_say_which_version_it_was_made_from(admin: Console) -> None:
    assert admin.fails("PUT", "/config", {"text": ""}).details["field"] == "ifVersion"


def test_a_text_beyond_its_bound_is_refused(admin: Console) -> None:
    assert not admin("POST", "/config/validate", {"text": "#" * 1024 * 1025})["valid"]


def test_a_plain_key_in_a_saved_text_is_kept_as_its_hash(house: House, admin: Console) -> None:
    shown = admin("GET", "/config")
    plain = "qms_a_key_that_a_person_wrote_by_hand"
    text = f'{shown["text"]}\n[users.eve]\ntier = "reader"\napiKey = "{plain}"\n'

    admin("PUT", "/config", {"text": text, "ifVersion": shown["version"]})

    assert plain not in house.toml.read_text(encoding="utf-8")
    assert plain not in admin("GET", "/config")["text"]
    assert house.gate.authenticate(plain).user == "eve"


def test_an_invalid_edit_by_hand_is_shown_and_blocks_changes(house: House, admin: Console) -> None:
    house.reconfigure(lambda text: text + "\n[global.backup]\nkeep = 0\n")

    shown = admin("GET", "/config")

    assert shown["error"]["field"] == "global.backup.keep"
    assert "keep = 0" not in shown["text"]
    assert admin.fails("POST", "/users", {"user": "x", "tier": "none"}).code == "conflict"
