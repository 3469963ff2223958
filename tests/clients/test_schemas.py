"""Tool schemas of every toolset, inputs and outputs, in the packages that hand them to models."""

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from qms.app.table import TABLE
from qms.mcp.tools import tool_of
from tools.toolbox import command_of

LIMIT_S = 280
PACKAGES = (
    "openai_agents",
    "google_genai",
    "pydantic_ai_strict",
    "langchain",
    "llama_index",
    "vs_code",
)

pytestmark = [
    pytest.mark.needs("converters"),
    pytest.mark.slow,
    pytest.mark.xdist_group("converters"),
]


def refusals(tools: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return what each package refuses, and why."""
    command = command_of("converters")
    assert command is not None
    done = subprocess.run(
        [*command, str(Path(__file__).parent / "with_converters.py")],
        input=json.dumps(tools),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@cache
def refused_of_ours() -> dict[str, list[str]]:
    tools = [tool_of(row).model_dump(by_alias=True, mode="json") for row in TABLE]
    return refusals(tools)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_takes_every_schema(package: str) -> None:
    assert refused_of_ours()[package] == []


REFUSED = {
    "an array of anything": ({"type": "array"}, set(PACKAGES) - {"llama_index"}),
    "an enum without a type": ({"enum": ["a"]}, {"openai_agents", "google_genai", "langchain"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_package_refuses_what_its_model_would(case: str) -> None:
    part, by = REFUSED[case]
    schema = {"type": "object", "properties": {"field": part}}
    tool = {"name": "t", "description": "d", "inputSchema": schema, "outputSchema": schema}

    refused = refusals([tool])

    assert by <= {package for package, found in refused.items() if found}
