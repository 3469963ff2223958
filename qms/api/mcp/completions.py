"""Completions: what a half-typed argument of a prompt or a resource template can become."""

from mcp_types import CompleteRequestParams, CompleteResult, Completion

from qms.api.mcp.calling import Calls
from qms.api.mcp.visits import Context
from qms.service.completing import MAX_COMPLETIONS

FIELDS = frozenset({"id", "tag", "kind", "namespace"})
"""Arguments whose values are found among the entries of the project."""


class Completions:
    """Completes arguments for whichever project is visited."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def complete(self, context: Context, params: CompleteRequestParams) -> CompleteResult:
        """Return the values that fit; none for an argument that is free text."""
        argument = params.argument
        values = []
        if argument.name in FIELDS:
            values = await self._calls.complete(context, argument.name, argument.value)
        shown, has_more = values[:MAX_COMPLETIONS], len(values) > MAX_COMPLETIONS
        return CompleteResult(completion=Completion(values=shown, has_more=has_more))
