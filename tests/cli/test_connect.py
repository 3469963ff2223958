"""`memoryctl connect`: each client's own format, a key that works, and nothing else touched."""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from qms.cli import client_hooks
from qms.cli.clients import CLIENTS
from qms.cli.instants import now
from qms.cli.remote import Remote, reachable
from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from qms.memory.errors import NotAllowedError
from tests.cli.conftest import Terminal
from tests.support.environment import Environment

JSON_CLIENTS = [name for name, client in CLIENTS.items() if client.syntax == "json"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, environment: Environment) -> Path:
    """A home folder of one's own, in which clients keep their files."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "USERPROFILE", "APPDATA"):
        environment[name] = str(folder)
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        environment.pop(name, None)
    return folder


def key_in(entry: dict[str, Any]) -> str:
    """Return the key that a client would send."""
    headers = entry.get("headers") or entry.get("http_headers")
    key: str = headers["Authorization"].split()[1] if headers else entry["env"]["QMS_KEY"]
    return key


@pytest.mark.parametrize("name", JSON_CLIENTS)
def test_a_client_gets_its_server_beside_those_it_has(server: Terminal, name: str) -> None:
    client = CLIENTS[name]
    before = {"theme": "dark", client.place: {"other": {"command": "x"}}}
    client.file().parent.mkdir(parents=True, exist_ok=True)
    client.file().write_text(json.dumps(before), encoding="utf-8")

    done = server.ok("connect", name, "--project", "default", "--write", "--json").json

    after = json.loads(client.file().read_text(encoding="utf-8"))
    entry = after[client.place].pop("memory")
    assert after == before
    assert json.loads(Path(done["backup"]).read_text(encoding="utf-8")) == before
    assert stat.S_IMODE(client.file().stat().st_mode) == 0o600
    assert done["tools"] == 5
    assert server.server is not None
    remote = Remote(server.server.url, key_in(entry))
    assert remote.speak("default", "tools/list", {})["tools"]
    remote.close()


def test_codex_keeps_the_comments_of_its_file(server: Terminal, home: Path) -> None:
    path = home / ".codex" / "config.toml"
    path.parent.mkdir()
    before = '# mine\nmodel = "m"  # this one\n\n[mcp_servers.other]\ncommand = "x"\n'
    path.write_text(before, encoding="utf-8")

    server.ok("connect", "codex", "--write")

    text = path.read_text(encoding="utf-8")
    assert "# mine" in text
    assert "# this one" in text
    servers = tomllib.loads(text)["mcp_servers"]
    assert servers["other"] == {"command": "x"}
    assert servers["memory"]["url"].endswith("/mcp/default?toolsets=lite")
    assert key_in(servers["memory"]).startswith("qms_")


def test_a_client_of_pipes_is_given_the_bridge(server: Terminal) -> None:
    done = server.ok("connect", "claude-desktop", "--json").json

    entry = json.loads(done["settings"])["mcpServers"]["memory"]
    assert entry["args"][0] == "bridge"
    assert Path(entry["command"]).stem == "qms"


def test_the_key_is_a_writers_and_says_which_client_it_is_for(server: Terminal) -> None:
    server.ok("connect", "cursor", "--write")

    (key,) = server.ok("keys", "list", "--user", "agents", "--json").json["items"]
    (user,) = [
        u for u in server.ok("users", "list", "--json").json["items"] if u["name"] == "agents"
    ]
    assert key["label"] == "cursor"
    assert user["tier"] == "writer"


def test_what_is_printed_tells_the_agent_to_recall_and_to_store(server: Terminal) -> None:
    done = server.ok("connect", "gemini")

    assert '"httpUrl"' in done.out
    assert "coldStart" in done.out
    assert "remember" in done.out
    assert "GEMINI.md" in done.err


def test_a_dry_run_makes_neither_key_nor_file(server: Terminal, home: Path) -> None:
    done = server.ok("connect", "cursor", "--write", "--dry-run", "--json").json

    assert not done["written"]
    assert list(home.iterdir()) == []
    assert len(server.ok("keys", "list", "--json").json["items"]) == 1


def test_without_a_server_it_says_that_nothing_was_tried(files: Terminal, home: Path) -> None:
    done = files.ok("connect", "cursor", "--write")

    assert "connection not tested" in done.err
    assert (home / ".cursor" / "mcp.json").exists()


def test_a_file_with_comments_is_left_alone_and_the_lines_to_add_are_printed(
    server: Terminal,
) -> None:
    path = CLIENTS["vscode"].file()
    path.parent.mkdir(parents=True)
    before = b'{\r\n\t// mine\r\n\t"servers": {"other": {"command": "x"}, // keep\r\n\t},\r\n}\r\n'
    path.write_bytes(before)

    done = server("connect", "vscode", "--write")

    assert done.code == 5
    assert path.read_bytes() == before
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert f"{path}: not changed, a rewrite would lose its comments" in done.err
    added = json.loads(done.out.partition("\n## Memory")[0])
    key = added["servers"]["memory"]["headers"]["Authorization"].removeprefix("Bearer ")
    assert server.server is not None
    server.ok("list", "--url", server.server.url, "--key", key)


def test_a_file_with_comments_is_named_in_the_answer_of_the_program(server: Terminal) -> None:
    path = CLIENTS["cursor"].file()
    path.parent.mkdir(parents=True)
    path.write_text('{"mcpServers": {},}', encoding="utf-8")

    done = server("connect", "cursor", "--write", "--json")

    assert done.code == 5
    assert done.json["commented"] == [str(path)]
    assert not done.json["written"]


def test_claude_code_keeps_its_file_where_it_was_told_to(
    server: Terminal, home: Path, environment: Environment
) -> None:
    environment["CLAUDE_CONFIG_DIR"] = str(home / "elsewhere")

    server.ok("connect", "claude-code", "--write")

    assert {path.name for path in (home / "elsewhere").iterdir()} == {
        ".claude.json",
        "settings.json",
    }


@pytest.mark.parametrize(
    "before", ["{ // mine\n", "[]", '{"mcpServers": []}', '{\n"mcpServers": "x"\n}', "\x00"]
)
def test_a_file_that_its_client_would_not_read_is_left_alone_and_costs_no_key(
    server: Terminal, home: Path, before: str
) -> None:
    path = home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_text(before, encoding="utf-8")

    done = server("connect", "cursor", "--write")

    assert done.code == 2
    assert str(path) in done.err
    assert "without --write" in done.err
    assert path.read_text(encoding="utf-8") == before
    assert len(server.ok("keys", "list", "--json").json["items"]) == 1


def test_a_project_that_is_not_there_is_refused_before_the_file_is_written(
    server: Terminal, home: Path
) -> None:
    done = server("connect", "cursor", "--project", "nowhere", "--write")

    assert done.code == 4
    assert not (home / ".cursor").exists()
    assert len(server.ok("keys", "list", "--json").json["items"]) == 1


@pytest.mark.parametrize("names_root", [True, False])
def test_from_afar_an_admins_key_makes_one_for_the_client(
    server: Terminal, environment: Environment, tmp_path: Path, names_root: bool
) -> None:
    assert server.server is not None
    other = tmp_path / "other"
    Configuration(other / "QuickMemoryServer.toml", Disk(), now).load()
    url = server.server.url
    environment["QMS_ROOT"] = str(other)
    if not names_root:
        del environment["QMS_ROOT"]

    done = server.ok("connect", "windsurf", "--url", url, "--write", "--json").json

    entry = json.loads(done["settings"])["mcpServers"]["memory"]
    assert entry["serverUrl"] == f"{url}/mcp/default?toolsets=lite"
    assert key_in(entry) != server.key
    (key,) = server.ok("keys", "list", "--user", "agents", "--url", url, "--json").json["items"]
    assert key["label"] == "windsurf"
    remote = Remote(url, key_in(entry))
    with pytest.raises(NotAllowedError):
        remote.administer("listUsers", {})
    remote.close()


def test_from_afar_a_key_that_makes_no_others_is_the_clients(server: Terminal) -> None:
    assert server.server is not None
    writer = server.ok("keys", "create", "alice", "--tier", "writer").line

    url = server.server.url
    done = server.ok("connect", "windsurf", "--url", url, "--key", writer, "--write", "--json")

    assert key_in(json.loads(done.json["settings"])["mcpServers"]["memory"]) == writer
    assert "the client gets the same key" in done.err


def test_an_address_that_means_all_is_one_to_connect_to() -> None:
    assert reachable("http://0.0.0.0:5080") == "http://127.0.0.1:5080"
    assert reachable("https://[::]:5080/base") == "https://[::1]:5080/base"
    assert reachable("http://memory.example") == "http://memory.example"


def test_without_write_there_is_no_key(server: Terminal, home: Path) -> None:
    done = server.ok("connect", "cursor")

    assert '"Bearer qms_…"' in done.out
    assert "--write does it, and creates the key" in done.err
    assert list(home.iterdir()) == []
    assert len(server.ok("keys", "list", "--json").json["items"]) == 1


def test_a_client_is_told_to_ask_for_toolsets(server: Terminal) -> None:
    shown = server.ok("connect", "cursor", "--toolsets", "core,lifecycle", "--write", "--json").json
    bridged = server.ok("connect", "claude-desktop", "--toolsets", "lifecycle", "--json").json

    entry = json.loads(shown["settings"])["mcpServers"]["memory"]
    assert entry["url"].endswith("/mcp/default?toolsets=core,lifecycle")
    assert shown["tools"] > server.ok("connect", "zed", "--write", "--json").json["tools"]
    arguments = json.loads(bridged["settings"])["mcpServers"]["memory"]["args"]
    assert arguments[-2:] == ["--toolsets", "lifecycle"]


def test_a_toolset_that_the_project_does_not_allow_costs_no_key(server: Terminal) -> None:
    done = server("connect", "cursor", "--toolsets", "nothing", "--write")

    assert done.code == 2
    assert "nothing" in done.err
    assert len(server.ok("keys", "list", "--json").json["items"]) == 1


def test_gemini_is_said_to_need_a_trusted_folder(server: Terminal) -> None:
    assert "Trust folder" in server.ok("connect", "gemini").err


GOOSE = "GOOSE_MODEL: m  # mine\nextensions:\n    developer:\n        enabled: true\nlast: 1\n"


def test_goose_keeps_the_lines_of_its_file(server: Terminal, home: Path) -> None:
    path = home / ".config" / "goose" / "config.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOSE, encoding="utf-8")

    for _ in range(2):
        server.ok("connect", "goose", "--write")

    text = path.read_text(encoding="utf-8")
    written = yaml.safe_load(text)
    entry = written["extensions"].pop("quick-memory")
    assert written == yaml.safe_load(GOOSE)
    assert "# mine" in text
    assert entry["type"] == "streamable_http"
    assert entry["uri"].endswith("/mcp/default?toolsets=lite")
    assert key_in(entry).startswith("qms_")


def test_hooks_of_a_server_elsewhere_are_left_out_and_it_is_said(
    server: Terminal, home: Path
) -> None:
    assert server.server is not None

    done = server.ok("connect", "claude-code", "--url", server.server.url, "--write")

    assert "no hooks in" in done.err
    assert "need a root on this computer" in done.err
    assert not (home / ".claude").exists()


def test_hooks_that_do_not_work_are_left_out_and_it_is_said(
    server: Terminal, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_hooks, "installed_program", lambda name: str(home / name))

    done = server.ok("connect", "claude-code", "--write")

    assert "no hooks in" in done.err
    assert "memoryctl" in done.err
    assert (home / ".claude.json").exists()
    assert not (home / ".claude").exists()
