"""Each command of ai-memory's command line, with its manual's examples, as memoryctl has it."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from qms.config.configuration import Configuration
from qms.disk.disk import Disk
from tests.cli.conftest import Terminal
from tests.support.environment import Environment
from tests.support.server import ServerProcess
from tests.support.stdio import StdioClient

MEMORY: dict[str, Any] = {
    "id": "a1b2c3d4-0000-4000-8000-000000000001",
    "tier": "long",
    "namespace": "my-app",
    "title": "Project uses PostgreSQL 15",
    "content": "The main database is PostgreSQL 15 with pgvector.",
    "tags": ["database"],
    "priority": 8,
    "created_at": "2026-02-01T12:00:00+00:00",
    "metadata": {"agent_id": "ai:claude-code"},
}
"""A memory as `ai-memory export` writes it."""

MINING = Path(__file__).parents[1] / "data" / "mining"


@pytest.fixture
def ctl(server: Terminal) -> Terminal:
    """A command line before a server: what it does on files, each verb's own tests show."""
    return server


def entry(ctl: Terminal, entry_id: str) -> dict[str, Any]:
    found: dict[str, Any] = ctl.ok("get", entry_id, "--json").json["entry"]
    return found


def found_ids(ctl: Terminal, *words: str) -> list[str]:
    answer = ctl.ok(*words, "--json").json
    for rows in ("items", "memories"):
        if rows in answer:
            return [one["id"].partition(":")[2] for one in answer[rows]]
    return [one["entry"]["id"].partition(":")[2] for one in answer["results"]]


def test_store(ctl: Terminal) -> None:
    made = ctl.remember(
        "Content", "--title", "Title", "--retention", "mid", "--namespace", "my-app",
        "--tag", "tag1", "--tag", "tag2", "--priority", "7", "--confidence", "0.9",
        "--source-type", "claude", "--ttl", "2099-04-15T00:00:00Z",
    )  # fmt: skip

    assert entry(ctl, made).items() >= {
        "title": "Title", "body": {"text": "Content"}, "retention": "mid", "namespace": "my-app",
        "tags": ["tag1", "tag2"], "priority": 7, "confidence": 0.9, "source": {"type": "claude"},
        "ttlUtc": "2099-04-15T00:00:00Z",
    }.items()  # fmt: skip


def test_store_with_an_agent_id(ctl: Terminal, environment: Environment) -> None:
    environment["QMS_AGENT_ID"] = "alice"
    ctl.remember("content", "--title", "note", "--id", "hers")
    del environment["QMS_AGENT_ID"]
    ctl.remember("content of another", "--id", "other")

    assert found_ids(ctl, "list", "--agent-id", "alice") == ["hers"]
    assert found_ids(ctl, "search", "content", "--agent-id", "alice") == ["hers"]


def test_store_with_a_lifetime_in_seconds(ctl: Terminal) -> None:
    made = ctl.remember(
        "Investigating auth timeout in login.rs", "--retention", "short", "--ttl", "7200s"
    )

    times = entry(ctl, made)
    assert times["retention"] == "short"
    assert times["ttlUtc"] > times["timestamps"]["createdUtc"]


def test_update(ctl: Terminal) -> None:
    ctl.remember("Content", "--id", "a")

    ctl.ok(
        "update", "a", "--title", "New title", "--body", "New content", "--priority", "8",
        "--ttl", "2099-06-01T00:00:00Z",
    )  # fmt: skip

    assert entry(ctl, "a").items() >= {
        "title": "New title", "body": {"text": "New content"}, "priority": 8,
        "ttlUtc": "2099-06-01T00:00:00Z",
    }.items()  # fmt: skip
    ctl.ok("update", "a", "--clear", "ttlUtc")
    assert "ttlUtc" not in entry(ctl, "a")


def test_recall(ctl: Terminal) -> None:
    ctl.remember("How auth works", "--id", "a", "--namespace", "my-app", "--tag", "auth")
    ctl.remember("How auth works elsewhere", "--id", "b", "--namespace", "other")
    words = ("recall", "auth flow", "--namespace", "my-app", "--limit", "10", "--tag", "auth")

    assert found_ids(ctl, *words, "--created-after", "2026-01-01T00:00:00Z") == ["a"]
    assert found_ids(ctl, *words, "--created-before", "2020-01-01") == []


def test_search(ctl: Terminal) -> None:
    ctl.remember("exact terms", "--id", "a", "--namespace", "my-app", "--tag", "rust")
    ctl.remember("exact only", "--id", "b", "--namespace", "my-app", "--tag", "rust")

    words = ("search", "exact terms", "--all-words", "--namespace", "my-app", "--limit", "20")
    found = found_ids(
        ctl, *words, "--retention", "long", "--created-after", "2026-01-01",
        "--created-before", "2099-12-31", "--tag", "rust",
    )  # fmt: skip

    assert found == ["a"]


def test_get(ctl: Terminal) -> None:
    ctl.remember("one", "--id", "a")
    ctl.remember("two", "--id", "b")
    ctl.ok("link", "a", "b")

    assert entry(ctl, "a")["body"] == {"text": "one"}
    (link,) = ctl.ok("get", "b", "--links", "--json").json["links"]
    assert (link["sourceId"], link["type"]) == ("default:a", "relatedTo")


def test_list(ctl: Terminal) -> None:
    for name in ("a", "b", "c"):
        ctl.remember(name, "--id", name, "--namespace", "my-app", "--retention", "mid")
    words = ("list", "--namespace", "my-app", "--retention", "mid", "--limit", "2", "--json")

    first = ctl.ok(*words).json
    second = ctl.ok(*words, "--cursor", first["nextCursor"]).json

    assert [one["id"] for one in first["items"]] == ["default:c", "default:b"]
    assert [one["id"] for one in second["items"]] == ["default:a"]
    assert found_ids(ctl, *words[:-1], "--tag", "devops") == []
    assert found_ids(ctl, "list", "--created-before", "2026-01-01") == []


def test_delete(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    ctl.ok("delete", "a", "--yes")

    assert ctl("get", "a").code == 4


def test_promote(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a", "--retention", "mid")
    assert "ttlUtc" in entry(ctl, "a")

    ctl.ok("promote", "a")

    assert not {"retention", "ttlUtc"} & set(entry(ctl, "a"))


def test_forget(ctl: Terminal) -> None:
    assert ctl("forget", "--yes").code == 2
    ctl.remember("old stuff", "--id", "a", "--namespace", "my-app", "--retention", "short")
    ctl.remember("old stuff", "--id", "b", "--namespace", "my-app")
    ctl.remember("The deprecated API", "--id", "c")

    ctl.ok("forget", "old stuff", "--namespace", "my-app", "--retention", "short", "--yes")
    assert found_ids(ctl, "list") == ["c", "b"]
    ctl.ok("forget", "deprecated API", "--yes")
    assert found_ids(ctl, "list") == ["b"]


@pytest.mark.parametrize("relation", ["relatedTo", "supersedes", "contradicts", "derivedFrom"])
def test_link(ctl: Terminal, relation: str) -> None:
    ctl.remember("one", "--id", "source-id")
    ctl.remember("two", "--id", "target-id")

    ctl.ok("link", "source-id", "target-id", "--type", relation)

    assert entry(ctl, "source-id")["relations"][0]["type"] == relation
    assert ctl("link", "source-id", "source-id", "--type", relation).code == 2


def test_consolidate(ctl: Terminal) -> None:
    for name in ("id1", "id2", "id3"):
        ctl.remember(name, "--id", name)

    made = ctl.ok(
        "consolidate", "id1", "id2", "id3", "--title", "Summary title",
        "--body", "Consolidated content", "--namespace", "my-app", "--yes",
    ).line  # fmt: skip

    one = entry(ctl, made)
    assert (one["title"], one["namespace"]) == ("Summary title", "my-app")
    assert one["body"] == {"text": "Consolidated content"}
    assert len(found_ids(ctl, "list")) == 1


def test_gc(ctl: Terminal) -> None:
    assert ctl.ok("gc", "--json").json == {"expired": 0, "ids": []}


def test_stats(ctl: Terminal) -> None:
    ctl.remember("text", "--namespace", "my-app", "--retention", "short")

    answer = ctl.ok("stats", "--json").json

    assert (answer["entries"], answer["byRetention"]) == (1, {"short": 1})
    assert answer["byNamespace"] == [{"namespace": "my-app", "count": 1}]
    assert (answer["expiringSoon"], answer["links"]) == (1, 0)
    assert answer["bytes"] > 0


def test_namespaces(ctl: Terminal) -> None:
    ctl.remember("text", "--namespace", "my-app")

    assert ctl.ok("namespaces").out.split() == ["1", "my-app"]


def test_resolve(ctl: Terminal) -> None:
    for name in ("winner", "loser"):
        ctl.remember(name, "--id", name)

    ctl.ok("resolve", "winner", "loser", "--yes")

    (relation,) = entry(ctl, "winner")["relations"]
    assert (relation["type"], relation["targetId"]) == ("supersedes", "default:loser")
    assert (entry(ctl, "loser")["priority"], entry(ctl, "loser")["confidence"]) == (1, 0.1)


def test_auto_consolidate(ctl: Terminal) -> None:
    for number in range(3):
        ctl.remember(f"step {number}", "--namespace", "my-project", "--tag", "deploy")
    words = ("auto-consolidate", "--namespace", "my-project")

    assert len(ctl.ok(*words, "--dry-run", "--json").json["groups"]) == 1
    assert ctl.ok(*words, "--short-only", "--min-count", "5", "--json").json["groups"] == []
    assert ctl.ok(*words, "--yes", "--json").json["consolidated"] == 3


@pytest.mark.parametrize(
    ("form", "path"), [("claude", "claude.json"), ("chatgpt", "chatgpt.json"), ("slack", "slack")]
)
def test_mine(ctl: Terminal, form: str, path: str) -> None:
    words = ("mine", str(MINING / path), "--format", form, "--min-messages", "1")

    assert ctl.ok(*words, "--dry-run").code == 0
    assert found_ids(ctl, "list") == []
    ctl.ok(*words, "--namespace", "chats", "--retention", "mid")
    assert found_ids(ctl, "list", "--namespace", "chats", "--retention", "mid")


@pytest.fixture
def archived(ctl: Terminal) -> str:
    """A memory in the archive."""
    ctl.remember("text", "--id", "a", "--namespace", "my-app", "--retention", "short")
    ctl.ok("delete", "a", "--yes")
    return "a"


def test_archive_list(ctl: Terminal, archived: str) -> None:
    words = ("archive", "list", "--namespace", "my-app", "--limit", "50")

    assert found_ids(ctl, *words) == [archived]


def test_archive_restore(ctl: Terminal, archived: str) -> None:
    ctl.ok("archive", "restore", archived)

    assert "ttlUtc" not in entry(ctl, archived)


def test_archive_purge(ctl: Terminal, archived: str) -> None:
    assert ctl.ok("archive", "purge", "--older-than-days", "30", "--json").json == {"purged": 0}
    assert found_ids(ctl, "archive", "list") == [archived]

    ctl.ok("archive", "purge", "--all", "--yes")

    assert found_ids(ctl, "archive", "list") == []


def test_archive_stats(ctl: Terminal, archived: str) -> None:
    found = ctl.ok("archive", "stats", "--json").json

    assert (found["archived"], found["byReason"]) == (1, {"deleted": 1})
    assert archived in ctl.ok("archive", "list").out


def test_export(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")
    ctl.remember("text of b", "--id", "b")
    ctl.ok("link", "a", "b")

    found = ctl.ok("export", "--format", "json").json["entries"]

    assert [one["id"] for one in found] == ["default:a", "default:b"]
    assert found[0]["relations"][0]["targetId"] == "default:b"


def test_import(ctl: Terminal, tmp_path: Path) -> None:
    memories = [
        {**MEMORY, "id": one, "title": one, "metadata": {"agent_id": "alice"}} for one in ("x", "y")
    ]
    links = [{"source_id": "x", "target_id": "y", "relation": "derived_from"}]
    backup = tmp_path / "memories-backup.json"
    backup.write_text(json.dumps({"memories": memories, "links": links}), encoding="utf-8")

    ctl.ok("import", str(backup), "--format", "aiMemory")

    found = entry(ctl, "x")
    assert (found["title"], found["priority"], found["namespace"]) == ("x", 8, "my-app")
    assert found["metadata"]["importedFromAgentId"] == "alice"
    assert found["relations"][0]["type"] == "derivedFrom"


def test_import_with_trust_source(ctl: Terminal, tmp_path: Path) -> None:
    backup = tmp_path / "memories-backup.json"
    backup.write_text(json.dumps({"memories": [MEMORY]}), encoding="utf-8")

    ctl.ok("import", str(backup), "--format", "aiMemory", "--trust-source")

    assert entry(ctl, MEMORY["id"])["agentId"] == "ai:claude-code"


@pytest.mark.parametrize("direction", ["pull", "push", "merge"])
def test_sync(files: Terminal, tmp_path: Path, direction: str) -> None:
    other = tmp_path / "other"
    Configuration(other / "QuickMemoryServer.toml", Disk(), lambda: datetime.now(UTC)).load()
    files.remember("ours", "--id", "ours")
    files.remember("theirs", "--id", "theirs", "--root", str(other))

    files.ok("sync", str(other), "--direction", direction)

    here, there = (set(found_ids(files, "list", *root)) for root in ((), ("--root", str(other))))
    both = {"ours", "theirs"}
    assert here == (both if direction != "push" else {"ours"})
    assert there == (both if direction != "pull" else {"theirs"})


def test_shell(ctl: Terminal, environment: Environment, tmp_path: Path) -> None:
    environment["XDG_STATE_HOME"] = str(tmp_path / "state")
    ctl.remember("PostgreSQL 15", "--id", "pg")

    assert ctl.ok("shell", typed=b"recall postgresql\nquit\n").out.startswith("pg")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_completions(files: Terminal, environment: Environment, shell: str) -> None:
    script = files.ok("completion", shell).out
    # As the script asks at a tab; fish sends the word itself, the others its number.
    environment["_MEMORYCTL_COMPLETE"] = f"{shell}_complete"
    environment["COMP_WORDS"] = "memoryctl rem"
    environment["COMP_CWORD"] = "rem" if shell == "fish" else "1"

    assert f"{shell}_complete" in script
    assert "remember" in files.ok().out


def test_man(files: Terminal) -> None:
    assert files.ok("man").out.startswith(".TH MEMORYCTL 1")


def test_mcp(files: Terminal) -> None:
    with StdioClient("mcp", "--root", str(files.root)) as client:
        tools = client.ask("tools/list")["result"]["tools"]

    assert "searchEntries" in {tool["name"] for tool in tools}


def test_serve(files: Terminal) -> None:
    with ServerProcess(files.root, "--host", "127.0.0.1", "--port", "0", key=files.key) as server:
        assert server.status()[0] == 200


def test_json(ctl: Terminal) -> None:
    ctl.remember("text", "--id", "a")

    assert json.loads(ctl.ok("--json", "get", "a").out)["entry"]["id"] == "default:a"
