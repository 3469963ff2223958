"""describe: what the caller can ask for, how, and where the help is."""

from typing import Any

import msgspec

from qms.config.settings import DROP_IN_TOOLSETS
from qms.domain.bodies import BODY_TYPES, MAIN_FIELDS
from qms.service.calls import Call, Command
from qms.service.manual import PAGE_URLS, SCHEMA_URL, Page
from qms.service.requests import NoArguments, Response
from qms.service.schemas import request_schema


class CommandDescription(Response, frozen=True):
    """How one command is called."""

    name: str
    tier: str
    help: str
    request_schema: dict[str, Any]
    example: dict[str, Any]


class KindDescription(Response, frozen=True):
    """What the body of a kind holds: one of `main` is required, the rest is optional."""

    main: tuple[str, ...]
    optional: tuple[str, ...]


class DescribeAnswer(Response, frozen=True):
    """The commands that the caller may use, and the kinds of entry."""

    commands: list[CommandDescription]
    kinds: dict[str, KindDescription]
    schema_url: str
    doc_url: str
    help_urls: list[str]


def describe(call: Call, _request: NoArguments) -> DescribeAnswer:
    """Return what the caller can ask for and how."""
    commands = [
        CommandDescription(
            name=command.name,
            tier=command.least.label,
            help=command.help,
            request_schema=request_schema(command),
            example=command.example,
        )
        for command in call.house.commands
        if command.least <= call.caller.access and _is_offered(call, command)
    ]
    return DescribeAnswer(
        commands=commands,
        kinds=_KINDS,
        schema_url=SCHEMA_URL,
        doc_url=PAGE_URLS[Page.USAGE],
        help_urls=[PAGE_URLS[Page.FOR_AGENTS], PAGE_URLS[Page.FOR_PEOPLE]],
    )


def _is_offered(call: Call, command: Command) -> bool:
    """Say whether a client finds the command where it asks: among the toolsets it has chosen."""
    if call.toolsets is not None:
        return command.toolset in call.toolsets
    return command.toolset not in DROP_IN_TOOLSETS.difference(call.endpoint.toolsets)


def _described(body: type[msgspec.Struct], main: tuple[str, ...]) -> KindDescription:
    fields = body.__struct_encode_fields__
    return KindDescription(main=main, optional=tuple(name for name in fields if name not in main))


_KINDS = {kind.value: _described(body, MAIN_FIELDS[kind]) for kind, body in BODY_TYPES.items()}
