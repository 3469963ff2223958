"""The OpenAPI document against the application: nothing unexpected, nothing undocumented."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import schemathesis.openapi
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.core.failures import FailureGroup

from qms.app.routes import app
from qms.app.table import ADMIN_TABLE, TABLE
from tests.support.house import CONFIGURATION, Clock, House, key_of

EXAMPLES = 12
"""So many requests a command and kind; `-m long` sends more."""

load_all_checks()
HOLDS: list[Any] = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
    )
]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    # The client of schemathesis chooses its own Host.
    text = f'[global]\nallowedHosts = ["localhost", "testserver"]\n{CONFIGURATION}'
    house = House(tmp_path_factory.mktemp("house"), Clock(), text=text)
    house.door("admin")("bulkImport", entries=SEEDS)
    yield schemathesis.openapi.from_asgi("/openapi.json", app(house.gate))
    house.close()


SEEDS = [
    {"id": "seed", "kind": "note", "body": "seed", "tags": ["x"], "curationTier": "canonical"},
    {
        "id": "other",
        "kind": "task",
        "body": "do",
        "relations": [{"type": "ref", "targetId": "projA:seed"}],
    },
]


def bombard(api: Any, path: str, method: str, *, mode: GenerationMode, examples: int) -> None:
    """Send made-up requests to one operation and check every answer against the document."""
    operation = api[path][method]

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Case[Any]) -> None:
        if "project" in (case.path_parameters or {}):
            case.path_parameters["project"] = "projA"
        case.call_and_validate(headers={"Authorization": f"Bearer {key_of('admin')}"}, checks=HOLDS)

    send()


@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", [command.name for command in TABLE])
def test_made_up_requests_get_documented_answers(api: Any, name: str, mode: GenerationMode) -> None:
    bombard(api, f"/api/v1/{{project}}/{name}", "POST", mode=mode, examples=EXAMPLES)


ROUTES = [(command, command.route) for command in ADMIN_TABLE]
ROUTES += [(command, command.care_route) for command in TABLE if command.care]

ADMINISTRATION = [
    pytest.param(route, mode, id=f"{command.name}-{mode.value}")
    for command, route in ROUTES
    for mode in GenerationMode
    # What takes nothing cannot be asked for in a way that does not fit.
    if mode is GenerationMode.POSITIVE or command.request.__struct_fields__
]


@pytest.mark.parametrize(("route", "mode"), ADMINISTRATION)
def test_made_up_administration_gets_documented_answers(
    api: Any, route: Any, mode: GenerationMode
) -> None:
    bombard(api, route.path, route.method, mode=mode, examples=EXAMPLES)


def test_an_answer_that_is_not_documented_would_be_found(api: Any) -> None:
    document = msgspec.json.decode(msgspec.json.encode(api.raw_schema))
    path = "/api/v1/{project}/listEntries"
    del document["paths"][path]["post"]["responses"]["400"]
    silent = schemathesis.openapi.from_dict(document)
    silent.app = api.app

    with pytest.raises(FailureGroup):
        bombard(silent, path, "POST", mode=GenerationMode.NEGATIVE, examples=EXAMPLES)


@pytest.mark.long
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize("name", [command.name for command in TABLE])
def test_very_many_made_up_requests_get_documented_answers(
    api: Any, name: str, mode: GenerationMode
) -> None:
    bombard(api, f"/api/v1/{{project}}/{name}", "POST", mode=mode, examples=500)
