"""What reaches outside the root is changed in the file, and by no edit over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from qms.config.local_only import check_outside
from qms.memory.access import LOCAL_ADMIN
from qms.memory.errors import InvalidInputError
from tests.support.console import Browser, Console
from tests.support.house import CONFIGURATION, Clock, House

SET = """
[llm]
baseUrl = "http://127.0.0.1:9/v1"
apiKeyEnv = "OPENAI_API_KEY"
[chat]
baseUrl = "http://127.0.0.1:9/v1"
[oauth]
issuer = "https://id.example"
[storage]
engine = "postgres"
dsnEnv = "QMS_DSN"
"""

EDITS = {
    "llm.baseUrl": ('127.0.0.1:9/v1"\napiKeyEnv', 'evil.example/v1"\napiKeyEnv'),
    "llm.apiKeyEnv": ("OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"),
    "llm.model": ('apiKeyEnv = "OPENAI', 'model = "x"\napiKeyEnv = "OPENAI'),
    "chat.baseUrl": ('[chat]\nbaseUrl = "http://127.0.0.1:9/v1"\n', ""),
    "chat.apiKeyEnv": ("[chat]\n", '[chat]\napiKeyEnv = "HOME"\n'),
    "oauth.issuer": ("id.example", "evil.example"),
    "storage.engine": ('engine = "postgres"\n', ""),
    "storage.dsnEnv": ("QMS_DSN", "HOME"),
    "endpoint.proja.documentRoots": ('slug = "projA"', 'slug = "projA"\ndocumentRoots = ["/etc"]'),
    "endpoint.projb.anything.tokenEnv": (
        'slug = "projB"',
        'slug = "projB"\nanything = { tokenEnv = "HOME" }',
    ),
    "users.reader.oauth.subject": ("[users.reader]\n", '[users.reader]\noauth.subject = "me"\n'),
    "global.embedding.model": ('model = "hash"', 'model = "/etc/passwd"'),
    "global.backupRoot": ("[global.embedding]", '[global]\nbackupRoot = "/"\n[global.embedding]'),
    "global.group": ("[global.embedding]", '[global]\ngroup = "users"\n[global.embedding]'),
    "global.newEnv": ("[global.embedding]", '[global]\nnewEnv = "HOME"\n[global.embedding]'),
}


@pytest.fixture
def owned(tmp_path: Path, clock: Clock) -> Iterator[House]:
    """A house whose file reaches outside, as its owner wrote it."""
    house = House(tmp_path, clock, text=CONFIGURATION + SET)
    yield house
    house.close()


@pytest.mark.attack(86)
@pytest.mark.parametrize("field", EDITS)
@pytest.mark.parametrize("door", [Console, Browser])
def test_no_edit_over_http_changes_what_reaches_outside(
    owned: House, field: str, door: type[Console]
) -> None:
    console: Console = door(owned.client)
    shown, before = console("GET", "/config"), owned.toml.read_bytes()
    old, new = EDITS[field]
    assert old in shown["text"]
    text = shown["text"].replace(old, new, 1)

    refusal = console.fails("PUT", "/config", {"text": text, "ifVersion": shown["version"]})
    checked = console("POST", "/config/validate", {"text": text})

    assert (refusal.status, refusal.code) == (400, "invalidInput")
    assert refusal.details["field"].casefold() == field.casefold()
    assert not checked["valid"]
    assert checked["error"]["field"].casefold() == field.casefold()
    assert owned.toml.read_bytes() == before


@pytest.mark.attack(86)
@pytest.mark.parametrize("field", EDITS)
def test_the_owner_of_the_machine_may(owned: House, field: str) -> None:
    if field == "storage.engine" or field.startswith(("global.backup", "global.embedding")):
        return
    shown = owned.gate.call(LOCAL_ADMIN, None, "getConfig", {})
    text = shown.text.replace(*EDITS[field], 1)

    request = {"text": text, "ifVersion": shown.version}
    owned.gate.call(LOCAL_ADMIN, None, "saveConfig", request)

    assert owned.configuration.error is None


@pytest.mark.attack(86)
def test_the_refusal_names_every_setting_and_the_file(owned: House) -> None:
    console = Console(owned.client)
    shown = console("GET", "/config")

    text = shown["text"].replace("127.0.0.1:9", "evil.example")
    refusal = console.fails("PUT", "/config", {"text": text, "ifVersion": shown["version"]})

    assert refusal.details["fields"] == ["llm.baseUrl", "chat.baseUrl"]
    assert "QuickMemoryServer.toml" in refusal.message


def test_other_edits_go_on_beside_settings_that_reach_outside(owned: House) -> None:
    console = Console(owned.client)

    console("POST", "/users", {"user": "alice", "tier": "reader"})
    console("PATCH", "/projects/projA", {"settings": {"maxEntries": 9}})
    shown = console("GET", "/config")
    text = shown["text"].replace("[llm]\n", "# the same, with a comment\n[llm]\n")
    console("PUT", "/config", {"text": text, "ifVersion": shown["version"]})

    assert owned.configuration.settings.llm.api_key_env == "OPENAI_API_KEY"


@pytest.mark.attack(86)
def test_an_absolute_path_of_the_file_is_not_taken_away_over_http(tmp_path: Path) -> None:
    before = f'[endpoint.a]\nstoragePath = "{tmp_path.as_posix()}"\n[endpoint.b]\n'

    for after, field in {
        '[endpoint.a]\nstoragePath = "a"\n[endpoint.b]\n': r"endpoint\.a\.storagePath",
        "[endpoint.a]\n[endpoint.b]\n": r"endpoint\.a\.storagePath",
        before.replace("[endpoint.a]", "[endpoint.c]"): r"endpoint\.c\.storagePath",
    }.items():
        with pytest.raises(InvalidInputError, match=field):
            check_outside(before, after, "file.toml")


def test_a_project_that_goes_takes_its_path_along_and_its_table_has_any_name(
    tmp_path: Path,
) -> None:
    before = f'[endpoint.a]\nstoragePath = "{tmp_path.as_posix()}"\n[endpoint.b]\n'

    check_outside(before, "[endpoint.b]\n", "file.toml")
    check_outside(before, before.replace("[endpoint.a]", "[endpoint.x]\nslug = 'A'"), "file.toml")
