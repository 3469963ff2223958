from types import ModuleType

import pytest

from qms.commands.answers import Rendered, Spoken
from qms.commands.call import Call
from qms.commands.command import Command, Handler, Hints, Route, collect, command
from qms.commands.requests import NoArguments, Request, Response
from qms.memory.access import AccessTier


class CountRequest(Request, frozen=True):
    """What is counted."""

    tag: str


class CountAnswer(Response, frozen=True):
    """How many there are."""

    count: int


def count_tags(_call: Call, _request: CountRequest) -> CountAnswer:
    """Count."""
    return CountAnswer(count=0)


def count_rows(_call: Call, _request: CountRequest) -> CountAnswer | Rendered:
    """Count, as rows of text where they are asked for."""
    return CountAnswer(count=0)


def count_aloud(_call: Call, _request: CountRequest) -> Spoken[CountAnswer]:
    """Count, with a text of its own."""
    return Spoken(text="none", content=CountAnswer(count=0))


def list_all(_call: Call, _request: NoArguments) -> CountAnswer:
    """Count everything."""
    return CountAnswer(count=0)


def in_module(handler: Handler, name: str) -> ModuleType:
    """Let a handler stand in a module of this name, and return the module."""
    handler.__module__ = name
    return ModuleType(name)


def declared(handler: Handler) -> Command:
    module = in_module(handler, f"one.{handler.__name__}")
    made = command(tier=AccessTier.READER, toolset="core", help="Count")(handler)
    assert made is handler, "others may go on to call it"
    (row,) = collect([module])
    return row


@pytest.mark.parametrize("handler", [count_tags, count_rows, count_aloud])
def test_the_types_of_a_command_come_from_the_annotations_of_its_handler(handler: Handler) -> None:
    row = declared(handler)

    assert (row.request, row.response, row.handler) == (CountRequest, CountAnswer, handler)


def test_the_name_of_a_command_comes_from_its_handler() -> None:
    assert declared(count_tags).name == "countTags"


@pytest.mark.parametrize(
    ("method", "hints"),
    [
        ("GET", (True, True, False)),
        ("POST", (False, False, False)),
        ("PUT", (False, True, False)),
        ("DELETE", (False, False, True)),
    ],
)
def test_the_method_of_a_route_gives_the_hints_of_its_command(
    method: str, hints: tuple[bool, bool, bool]
) -> None:
    module = in_module(list_all, "one.routed")
    command(route=f"{method} /admin/all", help="Count")(list_all)
    (row,) = collect([module])

    assert row.route == Route(method, "/admin/all")
    assert row.toolset is None
    assert row.least is AccessTier.ADMIN
    assert (row.read_only, row.idempotent, row.destructive) == hints


def test_a_command_has_a_toolset_or_a_route() -> None:
    with pytest.raises(AssertionError):
        command(help="Count")


def test_the_project_of_a_command_with_both_is_optional() -> None:
    module = in_module(count_tags, "two.places")
    command(toolset="core", route="GET /admin/all", help="Count")(count_tags)

    (row,) = collect([module])

    assert row.is_for(in_project=True)
    assert row.is_for(in_project=False)
    assert row.read_only


def test_commands_stand_in_the_order_of_modules_and_behind_the_one_that_they_follow() -> None:
    modules = [in_module(count_tags, "one.a")]
    command(toolset="core", help="A", name="first")(count_tags)
    command(toolset="core", help="A", name="last")(count_tags)
    modules.append(in_module(count_rows, "one.b"))
    command(toolset="core", help="B", name="third", after="second")(count_rows)
    command(toolset="core", help="B", name="second", after="first")(count_rows)

    assert [row.name for row in collect(modules)] == ["first", "second", "third", "last"]
    assert [row.name for row in collect(modules[:1])] == ["first", "last"]


@pytest.mark.parametrize("hints", [Hints(), Hints(after="absent")])
def test_a_name_twice_and_an_unknown_predecessor_are_refused(hints: Hints) -> None:
    modules = [in_module(count_tags, "one.c")]
    command(toolset="core", help="A", name="known")(count_tags)
    modules.append(in_module(count_rows, "one.d"))
    command(toolset="core", help="B", name="new" if hints else "known", **hints)(count_rows)

    with pytest.raises(AssertionError):
        collect(modules)
