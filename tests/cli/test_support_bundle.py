"""`memoryctl support-bundle`: what helps is in it, and nothing that should stay at home."""

import json
import logging
import stat
import zipfile
from pathlib import Path

import pytest

from qms.telemetry import logs
from qms.telemetry.logs import LOG_PLACE, LogOptions
from tests.cli.conftest import Terminal
from tests.support.environment import Environment
from tests.support.secrets_made_up import MADE_UP

BODY = "The vault opens at moonrise"
TITLE = "Where the vault is"
TAG = "moonrise-tag"
BAD_LINE = "half a line about moonrise"
LLM_KEY = "llm-key-of-somebody-else-0042"
OWN_KEY = "a-key-of-my-own-choice-17"


def contents(path: Path) -> dict[str, str]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def planted(ctl: Terminal, environment: Environment) -> list[str]:
    """Secrets in every place where one could stand; returns all of them."""
    ctl.ok("init")
    ctl.remember(BODY, "--title", TITLE, "--tag", TAG)
    environment["MODEL_KEY"] = LLM_KEY
    ctl.edit_settings('apiKeyEnv = ""', 'apiKeyEnv = "MODEL_KEY"')
    with ctl.entries_file().open("a", encoding="utf-8") as file:
        file.write(f'{{"kind": "{BAD_LINE}", "body": "x"}}\n')
    ctl.ok("stores", "reload", "default")
    own = (ctl.root / ".qms" / "memoryctl.key").read_text(encoding="utf-8").strip()
    log_file = ctl.root / LOG_PLACE
    log_file.parent.mkdir(exist_ok=True)
    leaks = [ctl.key, own, LLM_KEY, *MADE_UP.values()]
    with log_file.open("a", encoding="utf-8") as file:
        for leak in leaks:
            line = {"time": "2026-01-01T00:00:00Z", "level": "error", "message": f"key {leak} end"}
            file.write(json.dumps(line) + "\n")
    return [*leaks, BODY, TITLE, TAG, BAD_LINE]


def test_no_secret_and_no_memory_is_in_the_bundle(
    ctl: Terminal, planted: list[str], tmp_path: Path
) -> None:
    target = tmp_path / "bundle.zip"

    done = ctl.ok("support-bundle", "--output", str(target), "--json").json

    parts = contents(target)
    whole = "\n".join(parts.values())
    forms = [form for secret in planted for form in (secret, json.dumps(secret)[1:-1])]
    assert [form for form in forms if form in whole] == []
    assert done["parts"] == list(parts)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_what_helps_is_in_the_bundle(ctl: Terminal, planted: list[str], tmp_path: Path) -> None:
    target = tmp_path / "bundle.zip"

    ctl.ok("support-bundle", "--output", str(target))

    parts = contents(target)
    health = json.loads(parts["health.json"])
    assert health["status"] == "Degraded"
    assert {one["name"] for one in health["stores"]} == {"shared", "default"}
    assert "msgspec" in json.loads(parts["about.json"])["packages"]
    assert "folder" in [one["check"] for one in json.loads(parts["doctor.json"])]
    assert "[endpoint.default]" in parts["configuration.toml"]
    assert parts["log.jsonl"].count("[redacted]") >= len(MADE_UP)
    names = [one["name"] for one in json.loads(parts["files.json"])]
    assert "MemoryStores/default/entries.jsonl" in names


@pytest.mark.parametrize("mistake", ["[broken", '[llm]\nbaseUrl = "http://joe:hunter2@a.b/"'])
def test_a_plain_key_in_a_broken_configuration_stays_at_home(
    files: Terminal, tmp_path: Path, mistake: str
) -> None:
    path = files.root / "QuickMemoryServer.toml"
    path.write_text(f'[users.joe]\napiKey = "{OWN_KEY}"\n{mistake}\n', encoding="utf-8")
    target = tmp_path / "bundle.zip"

    files.ok("support-bundle", "--output", str(target))

    parts = contents(target)
    whole = "\n".join(parts.values())
    assert OWN_KEY not in whole
    assert "hunter2" not in whole
    assert "not valid" in parts["configuration.toml"]
    assert "apiKey =" in parts["configuration.toml"]


def test_a_file_that_is_there_is_not_written_over(files: Terminal, tmp_path: Path) -> None:
    target = tmp_path / "mine.zip"
    target.write_text("mine", encoding="utf-8")

    assert files("support-bundle", "--output", str(target)).code == 6
    assert target.read_text(encoding="utf-8") == "mine"


def test_the_log_itself_keeps_no_key(tmp_path: Path) -> None:
    path = tmp_path / "qms.log"
    key = "qms_" + "x" * 43
    logs.configure(LogOptions(file=path))

    logging.getLogger("t").warning("with %s", key)
    logs.reset()

    assert key not in path.read_text(encoding="utf-8")
