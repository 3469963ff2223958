"""What the server and the programs say about themselves, without placeholders but for paths."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tools.wire.exchange import Answer, ask, key_header
from tools.wire.layout import laid_out
from tools.wire.programs import Program
from tools.wire.roots import TOOLSETS
from tools.wire.steps import USERS

Send = Callable[[str, str, Any], Any]
"""A request of MCP: user, query of the address and method; returns the result."""

_LISTS = ("resources/list", "resources/templates/list", "prompts/list", "server/discover")
_LISTED = re.compile(r"^(?:Commands|Memories):\n(.*)", re.MULTILINE | re.DOTALL)
"""What follows the first heading of verbs; those of memoryctl stand in groups."""

_VERB = re.compile(r"^  ([a-z][a-z-]*)(?:  |$)", re.MULTILINE)


def pages(port: int) -> Iterator[tuple[str, str]]:
    """Give every page that describes the server, by file name."""
    for path, name in (
        ("/openapi.json", "openapi.json"),
        ("/docs/schema", "docs-schema.json"),
        ("/docs/agent-usage", "docs-agent-usage.md"),
        ("/admin/help/agent", "help-agent.md"),
        ("/admin/help/end-user", "help-end-user.md"),
        ("/.well-known/x", "well-known.json"),
    ):
        answer = ask(port, "GET", path, key_header("admin"))
        yield f"pages/{name}", f"{answer.status} {answer.headers['content-type']}\n{_shown(answer)}"


def tool_lists(send: Send) -> Iterator[tuple[str, str]]:
    """Give what MCP lists: in full for an admin, and for each tier the names and what differs."""
    for toolset in ("lite", *TOOLSETS):
        query = f"?toolsets={toolset}"
        tools = {user: _by_name(send(user, query, "tools/list")) for user in USERS}
        parts = [f"{user}: {' '.join(tools[user])}\n" for user in USERS]
        for user in USERS[:-1]:
            for name, told in tools[user].items():
                if told != tools["admin"].get(name):
                    parts.append(f"{user} sees {name} as {laid_out(told)}\n")
        parts += [f"{laid_out(told)}\n" for told in tools["admin"].values()]
        yield f"mcp/tools-{toolset}.txt", "".join(parts)
    for method in _LISTS:
        told = {user: laid_out(send(user, "", method)) for user in USERS}
        yield f"mcp/{method.replace('/', '-')}.txt", _by_tier(told)


def tiers(port: int) -> Iterator[tuple[str, str]]:
    """Give `describe` and `capabilities` for every tier."""
    for command in ("describe", "capabilities"):
        told = {}
        for user in USERS:
            headers = {**key_header(user), "Content-Type": "application/json"}
            told[user] = _shown(ask(port, "POST", f"/api/v1/projA/{command}", headers, b"{}"))
        yield f"pages/{command}.txt", _by_tier(told)


def helps(name: str, program: Program) -> str:
    """Return the help of a program and of all its verbs."""
    parts = []
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop(0)
        ended = program.call([*words, "--help"])
        parts.append(f"$ {' '.join((name, *words))} --help\n{ended.stdout}{ended.stderr}")
        verbs = _LISTED.search(ended.stdout)
        found = _VERB.findall(verbs[1]) if verbs else []
        waiting = [(*words, verb) for verb in found] + waiting
    return "\n".join(parts)


def _by_tier(told: Mapping[str, str]) -> str:
    """Return texts by tier, each told once."""
    parts, before = [], ""
    for user, text in told.items():
        parts.append(f"--- {user}\n{'(as before)' if text == before else text}\n")
        before = text
    return "".join(parts)


def _by_name(result: Any) -> dict[str, Any]:
    return {one["name"]: one for one in result["tools"]}


def _shown(answer: Answer) -> str:
    if "json" in answer.headers["content-type"]:
        return laid_out(json.loads(answer.body)) + "\n"
    return answer.text
