"""JSON Schema from the types."""

from qms.memory.bodies import Kind
from qms.memory.entry import FIELD_ORDER
from qms.memory.filters import Page
from qms.memory.json_schema import entry_schema, type_schema


def test_the_schema_names_every_field_of_an_entry() -> None:
    schema = entry_schema()["$defs"]["Entry"]

    assert set(schema["properties"]) == set(FIELD_ORDER)
    assert set(schema["required"]) >= {"id", "kind", "title", "body", "timestamps"}
    assert schema.get("additionalProperties", True) is True


def test_the_schema_has_a_body_for_every_kind() -> None:
    schema = entry_schema()
    kinds = [rule["if"]["properties"]["kind"]["const"] for rule in schema["allOf"]]

    assert kinds == [kind.value for kind in Kind]
    for rule in schema["allOf"]:
        name = rule["then"]["properties"]["body"]["$ref"].removeprefix("#/$defs/")
        assert name in schema["$defs"]


def test_a_type_has_a_schema_of_its_own() -> None:
    schema = type_schema(Page)

    assert schema["$defs"]["Page"]["properties"]["size"]["default"] == 50
