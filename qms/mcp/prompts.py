"""Prompts: the server's own, and entries tagged `prompt` with `{{arguments}}` in their text."""

import re
from typing import Any

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    ListPromptsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
)

from qms.mcp.calls import Calls
from qms.mcp.message import Context
from qms.mcp.pages import Offers, PromptAnswer, PromptRow, said
from qms.memory.bodies import Kind, main_text
from qms.memory.entry import split_id

TAG = "prompt"
PAGE_SIZE = 50
NAME_CHARACTERS = 200

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z][A-Za-z0-9_-]{0,63})\s*\}\}")


class Prompts:
    """Lists and renders the prompts of the project of the request."""

    def __init__(self, calls: Calls, offers: Offers) -> None:
        self._calls = calls
        self._rows = {row.name: row for row in offers.prompts}

    async def list_all(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        """Return a page of the project's prompts; the first page begins with the server's own."""
        cursor = params.cursor if params else None
        page = {"size": PAGE_SIZE} if cursor is None else {"size": PAGE_SIZE, "cursor": cursor}
        request = {"filter": {"tags": [TAG]}, "page": page, "include": "full"}
        answer = msgspec.json.decode(await self._calls.ask(context, "listEntries", request))
        stored = [
            _stored_prompt(entry) for entry in answer["items"] if _name(entry) not in self._rows
        ]
        own = [] if cursor is not None else [_own_prompt(row) for row in self._rows.values()]
        return ListPromptsResult(prompts=own + stored, next_cursor=answer["nextCursor"])

    async def get(self, context: Context, params: GetPromptRequestParams) -> PromptAnswer:
        """Return a prompt with its arguments filled in."""
        given = params.arguments or {}
        row = self._rows.get(params.name)
        if row is not None:
            _check(given, [one.name for one in row.arguments if one.is_required])
            return await row.render(context, given)
        entry = await self._find(context, params.name)
        text = _text(entry)
        _check(given, _placeholders(text))
        return said(_PLACEHOLDER.sub(lambda found: given[found[1]], text), entry["title"])

    async def _find(self, context: Context, name: str) -> dict[str, Any]:
        try:
            answer = msgspec.json.decode(await self._calls.ask(context, "getEntry", {"id": name}))
        except MCPError as error:
            if error.code == INVALID_PARAMS:
                raise _unknown(name) from None
            raise
        entry: dict[str, Any] = answer["entry"]
        if TAG not in entry.get("tags", ()):
            raise _unknown(name)
        return entry


def _unknown(name: str) -> MCPError:
    return MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:NAME_CHARACTERS]}")


def _check(given: dict[str, str], required: list[str]) -> None:
    missing = [name for name in required if name not in given]
    if missing:
        raise MCPError(INVALID_PARAMS, f"Missing argument: {', '.join(missing)}")


def _name(entry: dict[str, Any]) -> str:
    """Return the prompt's name: the local part of the entry's id, chosen by its author."""
    return split_id(entry["id"])[1]


def _text(entry: dict[str, Any]) -> str:
    return main_text(Kind(entry["kind"]), entry["body"])


def _placeholders(text: str) -> list[str]:
    return list(dict.fromkeys(found[1] for found in _PLACEHOLDER.finditer(text)))


def _stored_prompt(entry: dict[str, Any]) -> Prompt:
    arguments = [PromptArgument(name=name, required=True) for name in _placeholders(_text(entry))]
    return Prompt(
        name=_name(entry),
        title=entry["title"],
        description=f"Stored as entry {entry['id']}",
        arguments=arguments,
    )


def _own_prompt(row: PromptRow) -> Prompt:
    arguments = [
        PromptArgument(name=one.name, description=one.description, required=one.is_required)
        for one in row.arguments
    ]
    return Prompt(name=row.name, title=row.title, description=row.description, arguments=arguments)
