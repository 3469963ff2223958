"""The packages that hand tools to models, each with every schema; run by its own interpreter.

Reads tools as JSON from standard input and writes, for each package, what it refuses and why.
Where the refusal is the model's API's and not the package's, the rule is applied to what the
package would send.
"""

import asyncio
import copy
import json
import sys

from agents.strict_schema import ensure_strict_json_schema
from google.genai import types
from google.genai._mcp_utils import mcp_to_gemini_tool
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from llama_index.tools.mcp import McpToolSpec
from mcp_types import Tool
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.tools import Tool as PydanticTool


def parts(schema, place="it"):
    """Yield every schema inside a schema, with its place."""
    if not isinstance(schema, dict):
        raise TypeError(f"{place} is {schema!r}, not a schema")
    yield place, schema
    for name, one in (schema.get("properties") or {}).items():
        yield from parts(one, f"{place}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from parts(schema[key], f"{place}.{key}")
    for key in ("anyOf", "oneOf", "allOf", "any_of"):
        for number, one in enumerate(schema.get(key) or []):
            yield from parts(one, f"{place}.{key}{number}")


def check_openai(schema, *, is_strict):
    """Apply the rules for which OpenAI refuses a whole request."""
    for place, part in parts(schema):
        kinds = part.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "array" in kinds and not part.get("items"):
            raise ValueError(f"{place}: array schema missing items")
        if not any(key in part for key in ("type", "anyOf", "$ref")):
            raise ValueError(f"{place}: schema must have a 'type' key")
        if is_strict and "object" in kinds:
            if part.get("additionalProperties") is not False:
                raise ValueError(f"{place}: additionalProperties must be false")
            if set(part.get("required", [])) != set(part.get("properties", {})):
                raise ValueError(f"{place}: required must name every property")


def check_gemini(schema):
    """Apply the rules for which Gemini refuses a function declaration."""
    for place, part in parts(schema):
        if part.get("enum") and str(part.get("type")).upper() not in ("STRING", "TYPE.STRING"):
            raise ValueError(f"{place}: enum is only allowed for STRING type")
        if "" in (part.get("enum") or []):
            raise ValueError(f"{place}: enum[0] cannot be empty")
        if str(part.get("type")).upper() == "ARRAY" and not part.get("items"):
            raise ValueError(f"{place}: items: missing field")
        if not part.get("type") and not part.get("any_of"):
            raise ValueError(f"{place}: a type is missing")
        for name in part.get("required") or []:
            if name not in (part.get("properties") or {}):
                raise ValueError(f"{place}: required[{name}] is not defined")


def openai_agents(_tool, schema):
    check_openai(ensure_strict_json_schema(copy.deepcopy(schema)), is_strict=True)


def google_genai(tool, schema):
    mcp_tool = Tool(name=tool["name"], description=tool["description"], input_schema=schema)
    [declared] = mcp_to_gemini_tool(mcp_tool).function_declarations
    check_gemini(declared.parameters.model_dump(exclude_none=True, mode="json"))
    # The same without the package's filter, which drops what it does not know.
    whole = types.Schema.from_json_schema(json_schema=types.JSONSchema.model_validate(schema))
    check_gemini(whole.model_dump(exclude_none=True, mode="json"))


def pydantic_ai_strict(tool, schema):
    strict = OpenAIJsonSchemaTransformer(copy.deepcopy(schema), strict=True).walk()
    check_openai(strict, is_strict=True)
    GoogleJsonSchemaTransformer(copy.deepcopy(schema), strict=True).walk()

    async def never(**_arguments):
        raise AssertionError("no tool is called")

    made = PydanticTool.from_schema(
        never, name=tool["name"], description=tool["description"], json_schema=schema
    )
    Agent(TestModel(call_tools=[]), tools=[made]).run_sync("list")


def langchain(tool, schema):
    made = StructuredTool(
        name=tool["name"],
        description=tool["description"],
        args_schema=copy.deepcopy(schema),
        func=lambda **_arguments: None,
    )
    for strict in (False, True):
        sent = convert_to_openai_tool(made, strict=strict)["function"]["parameters"]
        check_openai(sent, is_strict=False)
        assert set(sent["properties"]) == set(schema["properties"])


def llama_index(tool, schema):
    made = McpToolSpec(client=None).create_model_from_json_schema(schema, tool["name"])
    sent = made.model_json_schema()
    assert set(sent["properties"]) == set(schema["properties"])


def vs_code(_tool, schema):
    """VS Code's own check of a tool: an array says what is in it."""
    for place, part in parts(schema):
        if part.get("type") == "array" and not isinstance(part.get("items"), dict):
            raise ValueError(f"{place}: tool parameters array type must have items")


CONVERTERS = (openai_agents, google_genai, pydantic_ai_strict, langchain, llama_index, vs_code)


def main():
    """Convert every tool with every package."""
    asyncio.set_event_loop(asyncio.new_event_loop())
    refused = {convert.__name__: [] for convert in CONVERTERS}
    for tool in json.load(sys.stdin):
        for convert in CONVERTERS:
            for side in ("inputSchema", "outputSchema"):
                try:
                    convert(tool, copy.deepcopy(tool[side]))
                except Exception as error:
                    why = " ".join(str(error).split())[:160]
                    refused[convert.__name__].append(f"{tool['name']} {side}: {why}")
    json.dump(refused, sys.stdout)


main()
