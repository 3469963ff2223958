"""describe: commands the caller may use, their schemas, links to help; the schema document."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from qms.commands.call import Call
from qms.commands.command import Command, command
from qms.commands.requests import NoArguments, Response
from qms.commands.schemas import request_schema
from qms.config.settings import DROP_IN_TOOLSETS
from qms.features.health.instructions import instructions
from qms.features.health.manual import PAGE_URLS, SCHEMA_URL, Page
from qms.memory.access import AccessTier
from qms.memory.bodies import BODY_TYPES, MAIN_FIELDS
from qms.memory.json_schema import entry_schema, schemas_of
from qms.memory.validation import instant_text

_PLACE = "#/$defs/"
_BY_TIER = frozenset({"core"})
"""The toolsets that the instructions are for when a caller is bound to none."""


def schema_document(commands: Iterable[Command], generated: datetime) -> dict[str, Any]:
    """Return the JSON Schema of an entry, with all other types and the commands that use them."""
    rows = list(commands)
    types = list({kind: None for row in rows for kind in (row.request, row.response)})
    places = dict(zip(types, schemas_of(types, place=_PLACE)[0], strict=True))
    return {
        **entry_schema(*types),
        "generatedUtc": instant_text(generated),
        "commands": {
            row.name: {"request": places[row.request], "response": places[row.response]}
            for row in rows
        },
    }


class CommandDescription(Response, frozen=True):
    """The name, tier, help and schema of one command."""

    name: str
    tier: str
    help: str
    request_schema: dict[str, Any]
    example: dict[str, Any]


class KindDescription(Response, frozen=True):
    """The body fields of a kind: one of `main` is required, the others are optional."""

    main: tuple[str, ...]
    optional: tuple[str, ...]


class DescribeAnswer(Response, frozen=True):
    """The commands that the caller may use, and the kinds of entry."""

    instructions: str
    commands: list[CommandDescription]
    kinds: dict[str, KindDescription]
    schema_url: str
    doc_url: str
    help_urls: list[str]


@command(
    tier=AccessTier.READER,
    toolset="core",
    help="Describe your commands and the kinds of entry. Use it for details",
    read_only=True,
    idempotent=True,
    brief=True,
)
def describe(call: Call, _request: NoArguments) -> DescribeAnswer:
    """Return the commands that the caller may use, and the kinds of entry."""
    commands = [
        CommandDescription(
            name=command.name,
            tier=command.least.label,
            help=command.help,
            request_schema=request_schema(command),
            example=command.example,
        )
        for command in call.context.commands
        if command.is_for(in_project=True)
        and command.least <= call.caller.access
        and _is_offered(call, command)
    ]
    toolsets = _BY_TIER if call.toolsets is None else call.toolsets
    return DescribeAnswer(
        instructions=instructions(call.project, toolsets),
        commands=commands,
        kinds=_KINDS,
        schema_url=SCHEMA_URL,
        doc_url=PAGE_URLS[Page.USAGE],
        help_urls=[PAGE_URLS[Page.FOR_AGENTS], PAGE_URLS[Page.FOR_PEOPLE]],
    )


def _is_offered(call: Call, command: Command) -> bool:
    """Say whether the command is offered to this caller.

    A key gets the commands of its toolsets. A caller of whom only the tier is checked gets all,
    except drop-in toolsets that the project does not allow.
    """
    if call.toolsets is not None:
        return not command.toolsets.isdisjoint(call.toolsets)
    return command.toolset not in DROP_IN_TOOLSETS.difference(call.endpoint.toolsets)


def _described(body: type[msgspec.Struct], main: tuple[str, ...]) -> KindDescription:
    fields = body.__struct_encode_fields__
    return KindDescription(main=main, optional=tuple(name for name in fields if name not in main))


_KINDS = {kind.value: _described(body, MAIN_FIELDS[kind]) for kind, body in BODY_TYPES.items()}
