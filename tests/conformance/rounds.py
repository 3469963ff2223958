"""Tools of the conformance suite that need several rounds: they answer with what they still need.

Since 2026-07-28 a server sends no requests of its own: an answer asks, the next call brings it.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from typing import Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
)

from qms.commands.call import Call
from qms.commands.requests import NoArguments
from qms.mcp.calls import ClientProgress
from tests.conformance.content import text, told
from tests.conformance.forms import STRING, form

Requests = dict[str, InputRequest]
Round = CallToolResult | InputRequiredResult

_SECRET = secrets.token_bytes(32)


def elicited(message: str, **properties: dict[str, Any]) -> ElicitRequest:
    schema = form(**properties)
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def sampled(words: str, max_tokens: int) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=text(words))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=max_tokens)
    )


def needs(requests: Requests, state: str | None = None) -> InputRequiredResult:
    return InputRequiredResult(
        input_requests=requests, request_state=None if state is None else sealed(state)
    )


def sealed(state: str) -> str:
    """Return a state that only this process can have made."""
    return f"{state}.{hmac.new(_SECRET, state.encode(), hashlib.sha256).hexdigest()}"


def unsealed(given: object) -> str:
    """Return the state in what a client sent back, unless it changed something."""
    state = str(given).rpartition(".")[0]
    if not hmac.compare_digest(sealed(state).encode(), str(given).encode()):
        raise MCPError(INVALID_PARAMS, "the request state is not one of this server")
    return state


def responses(params: Any) -> dict[str, Any]:
    given = (params or {}).get("inputResponses")
    return given if isinstance(given, dict) else {}


def content(answer: Any, field: str) -> Any:
    """Return a field of an accepted form, or None when it is no such thing."""
    inside = answer.get("content") if isinstance(answer, dict) else None
    return inside.get(field) if isinstance(inside, dict) else None


def _params(call: Call) -> dict[str, Any]:
    return dict(cast(ClientProgress, call.progress).context.params or {})


NAME: Requests = {"user_name": elicited("What is your name?", name=STRING)}
CAPITAL: Requests = {"capital_question": sampled("What is the capital of France?", 100)}
ROOTS: Requests = {"client_roots": ListRootsRequest()}
CONFIRM: Requests = {"confirm": elicited("Please confirm", ok={"type": "boolean"})}
STEP_1: Requests = {"step1": elicited("Step 1: What is your name?", name=STRING)}
STEP_2: Requests = {"step2": elicited("Step 2: What is your favorite color?", color=STRING)}
SEVERAL: Requests = {**NAME, "greeting": sampled("Generate a greeting", 50), **ROOTS}


def _elicitation(call: Call, _request: NoArguments) -> Round:
    name = content(responses(_params(call)).get("user_name"), "name")
    return told(f"Hello, {name}!") if isinstance(name, str) else needs(NAME)


def _sampling(call: Call, _request: NoArguments) -> Round:
    answer = responses(_params(call)).get("capital_question")
    return told(f"The model says: {answer}") if answer else needs(CAPITAL)


def _list_roots(call: Call, _request: NoArguments) -> Round:
    answer = responses(_params(call)).get("client_roots")
    return told(f"The roots are: {answer}") if answer else needs(ROOTS)


def _request_state(call: Call, _request: NoArguments) -> Round:
    params = _params(call)
    if "confirm" not in responses(params):
        return needs(CONFIRM, "confirming")
    unsealed(params.get("requestState"))
    return told("state-ok")


def _several(call: Call, _request: NoArguments) -> Round:
    params = _params(call)
    if not SEVERAL.keys() <= responses(params).keys():
        return needs(SEVERAL, "several")
    unsealed(params.get("requestState"))
    return told("all of it is there")


def _multi_round(call: Call, _request: NoArguments) -> Round:
    params = _params(call)
    state = params.get("requestState")
    if state is None:
        return needs(STEP_1, "first")
    if unsealed(state) == "first":
        return needs(STEP_2, "second")
    return told("both steps are done")


def _capabilities(call: Call, _request: NoArguments) -> Round:
    capabilities = cast(ClientProgress, call.progress).context.session.client_capabilities
    wanted: Requests = {}
    if capabilities is not None and capabilities.sampling is not None:
        wanted |= CAPITAL
    if capabilities is not None and capabilities.elicitation is not None:
        wanted |= NAME
    return needs(wanted) if wanted else told("this client can be asked for nothing")


ROUNDS: dict[str, Callable[[Call, NoArguments], Round]] = {
    "test_input_required_result_elicitation": _elicitation,
    "test_streaming_elicitation": _elicitation,
    "test_input_required_result_sampling": _sampling,
    "test_input_required_result_list_roots": _list_roots,
    "test_input_required_result_request_state": _request_state,
    "test_input_required_result_tampered_state": _request_state,
    "test_input_required_result_multiple_inputs": _several,
    "test_input_required_result_multi_round": _multi_round,
    "test_input_required_result_capabilities": _capabilities,
}
