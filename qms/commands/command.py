"""Command: one row of the command table, declared over the function that runs it."""

import re
import types
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, TypedDict, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

import msgspec

from qms.commands.answers import Rendered, Spoken
from qms.commands.requests import Request
from qms.memory.access import AccessTier

EXAMPLE_ID = "projA:01931c6e-0000-7000-8000-000000000000"
OTHER_EXAMPLE_ID = "projA:01931c6e-0000-7000-8000-000000000001"
EXAMPLE_VERSION = "0123456789abcdef"
"""Values for the examples of commands."""


class Route(msgspec.Struct, frozen=True):
    """The HTTP route of a row of the administration; `{name}` in the path is an argument."""

    method: str
    path: str


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the command table.

    With a toolset it is called in a project, and `least` is compared with the tier there. With a
    route it is one of the administration: its call has no project, and `least` is compared with
    the user's own tier. With both, the project is optional.
    """

    name: str
    toolset: str | None
    """The toolset that a project must allow for a key to call it; None if no project has it."""
    also: tuple[str, ...] = ()
    """Further toolsets that have it too."""
    least: AccessTier
    request: type[Request]
    response: type[Any]
    handler: Callable[[Any, Any], Any]
    help: str
    example: dict[str, Any]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    inline: bool = False
    route: Route | None = None
    searches: bool = False
    """Whether it needs the indexes, and waits until they are built."""
    brief: bool = False
    """Whether its time does not grow with the store, and it reports no progress."""
    care: bool = False
    """Whether it maintains a store; its `/admin` route checks the tier alone."""
    after: str | None = None
    """The command that it follows in lists; by default the one declared before it."""
    alias_of: str | None = None
    """The command that does the same work; this name keeps its form until 1.0."""

    def is_for(self, *, in_project: bool) -> bool:
        """Say whether it can be called in a project, or on the server as a whole."""
        return (self.toolset if in_project else self.route) is not None

    @property
    def toolsets(self) -> frozenset[str]:
        """Return every toolset that has the command."""
        return frozenset({self.toolset, *self.also}) if self.toolset is not None else frozenset()

    @property
    def care_route(self) -> Route:
        """Return the route of a maintenance command, which ignores the project's toolsets."""
        assert self.care, f"{self.name} does not maintain a store"
        return Route("POST", f"/admin/stores/{{project}}/{self.name}")


class Hints(TypedDict, total=False):
    """Further facts of a command; `Command` describes each."""

    read_only: bool
    destructive: bool
    idempotent: bool
    inline: bool
    searches: bool
    brief: bool
    care: bool
    after: str
    alias_of: str
    also: tuple[str, ...]


Handler = TypeVar("Handler", bound=Callable[[Any, Any], Any])

_declared: dict[str, dict[str, Command]] = {}
"""The rows by module and name, in the order of their declaration."""

_NEXT_WORD = re.compile(r"_(\w)")


def command(
    *,
    help: str,  # noqa: A002 - the word that the table, MCP and the command line use
    tier: AccessTier = AccessTier.ADMIN,
    toolset: str | None = None,
    route: str | None = None,
    name: str | None = None,
    example: dict[str, Any] | None = None,
    **hints: Unpack[Hints],
) -> Callable[[Handler], Handler]:
    """Declare a function `(call, request) -> answer` as a command; it stays as it is.

    The types come from its annotations, the name from its own unless `name` is given. A command
    of the administration has a route like `GET /admin/users/{user}` in place of a toolset, one
    whose project is optional has both.
    """
    assert toolset is not None or route is not None, "a command has a toolset, a route or both"

    def declare(handler: Handler) -> Handler:
        request, response = types_of(handler)
        place = Route(*route.split(" ")) if route is not None else None
        facts: Hints = {**_hints_of(place), **hints}
        row = Command(
            name=name or _NEXT_WORD.sub(lambda found: found[1].upper(), handler.__name__),
            toolset=toolset,
            least=tier,
            request=request,
            response=response,
            handler=handler,
            help=help,
            example=example or {},
            route=place,
            **facts,
        )
        _declared.setdefault(handler.__module__, {})[row.name] = row
        return handler

    return declare


def collect(modules: Iterable[ModuleType]) -> tuple[Command, ...]:
    """Return the rows that these modules declare, each behind the one that it follows."""
    rows = [row for one in modules for row in _declared.get(one.__name__, {}).values()]
    followers: dict[str | None, list[Command]] = {}
    for row in rows:
        followers.setdefault(row.after, []).append(row)
    ordered = tuple(_in_order(followers, None))
    assert len({row.name for row in ordered}) == len(rows), "a name twice, or an unknown `after`"
    return ordered


def declaring_modules() -> list[str]:
    """Return the names of the imported modules that declare commands."""
    return list(_declared)


def _in_order(followers: dict[str | None, list[Command]], name: str | None) -> Iterator[Command]:
    for row in followers.get(name, ()):
        yield row
        yield from _in_order(followers, row.name)


def _hints_of(route: Route | None) -> Hints:
    """Return what the method of a route says about its command."""
    if route is None:
        return {}
    is_read = route.method == "GET"
    return {
        "read_only": is_read,
        "idempotent": is_read or route.method == "PUT",
        "destructive": route.method == "DELETE",
    }


def types_of(handler: Callable[[Any, Any], Any]) -> tuple[type[Request], type[Any]]:
    """Return the types of request and answer; rows of text and spoken words are forms of one."""
    _call, request, answer = get_type_hints(handler).values()
    if get_origin(answer) in (types.UnionType, Union):
        (answer,) = (one for one in get_args(answer) if one is not Rendered)
    if get_origin(answer) is Spoken:
        (answer,) = get_args(answer)
    return request, answer
