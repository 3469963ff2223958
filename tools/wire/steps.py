"""One step of a script: who does what at which door, and what later steps need of the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Door = Literal["api", "http", "mcp", "ctl", "qms", "stdio", "edit", "pause"]

USERS = ("reader", "writer", "curator", "admin")
NOBODY = ""


@dataclass(frozen=True)
class Step:
    """One request, one call of a program or one edit by hand.

    In a request, `$name` stands for what an earlier step saved, alone or inside of a text.
    """

    door: Door
    who: str
    """The user whose key is sent; for `ctl` the root that it works on instead, when `on_files`."""
    project: str
    command: str
    """A command, `METHOD /path`, a method of MCP, or the arguments of a program."""
    request: Any = None
    save: Mapping[str, str] = field(default_factory=dict)
    """Names for later steps, with their place in the answer: `results.0.id`, `@header`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    """The query of the address of MCP."""
    on_files: bool = False
    shape_only: bool = False
    """Whether the answer differs from run to run, so that only its fields are written down."""
    note: str = ""

    @property
    def title(self) -> str:
        """Return what the recording calls the step."""
        place = f"files of {self.who}" if self.on_files else (self.who or "nobody")
        words = [self.door, place, self.project + self.query, self.command]
        return " ".join(word for word in words if word) + (f" ({self.note})" if self.note else "")


Script = Sequence[Step]


def api(who: str, project: str, command: str, request: Any = None, **save: str) -> Step:
    """Return a call of a command at `/api/v1`."""
    return Step("api", who, project, command, {} if request is None else request, save)


def http(
    who: str,
    command: str,
    request: Any = None,
    headers: Mapping[str, str] | None = None,
    **save: str,
) -> Step:
    """Return a request to any route, as `METHOD /path`; a text is sent as it stands."""
    return Step("http", who, "", command, request, save, headers or {})


def shape_of(step: Step) -> Step:
    """Return the same step, of whose answer only the fields are written down."""
    return replace(step, shape_only=True)


def mcp(
    who: str, project: str, method: str, params: Any = None, query: str = "", **save: str
) -> Step:
    """Return a request of MCP without a session."""
    return Step("mcp", who, project, method, params or {}, save, query=query)


def tool(
    who: str, project: str, name: str, arguments: Any = None, query: str = "", **save: str
) -> Step:
    """Return a call of a tool over MCP; what it saves is in the structured content."""
    params = {"name": name, "arguments": arguments or {}}
    places = {name: f"result.structuredContent.{place}" for name, place in save.items()}
    return Step("mcp", who, project, "tools/call", params, places, query=query, note=name)


def ctl(who: str, command: str, stdin: str = "", project: str = "", **save: str) -> Step:
    """Return a call of memoryctl on the server, with the key of a user."""
    return Step("ctl", who, project, command, stdin or None, save)


def ctl_files(root: str, command: str, stdin: str = "", project: str = "", **save: str) -> Step:
    """Return a call of memoryctl on the files of a root."""
    return Step("ctl", root, project, command, stdin or None, save, on_files=True)


def qms(command: str) -> Step:
    """Return a call of the program qms."""
    return Step("qms", "person", "", command)


def stdio(who: str, command: str, said: Sequence[tuple[str, Mapping[str, Any]]]) -> Step:
    """Return a talk over MCP with the program qms, as a client that starts it has."""
    return Step("stdio", who, "", command, said)


def pause(seconds: float) -> Step:
    """Return a wait, for what ends by itself."""
    return Step("pause", "time", "", f"{seconds} s", seconds)


def edit(project: str, note: str, **change: Any) -> Step:
    """Return an edit of `entries.jsonl` by hand: `append`, `drop` lines with a text, `replace`."""
    return Step("edit", "person", project, note, change)
