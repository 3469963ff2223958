"""The template and the documentation name every setting, and the template equals the defaults."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from qms.config.api_keys import KeyRecord
from qms.config.settings import Endpoint, GlobalSettings, LlmSettings
from qms.config.toml_file import parse
from qms.config.toml_text import TomlText
from qms.resources import TEMPLATE_NAME, find_resource

TEMPLATE = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def fields(kind: type, place: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for field in msgspec.structs.fields(kind):
        inner = (*place, field.encode_name)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from fields(field.type, inner)
        else:
            yield inner


GENERAL = [*fields(GlobalSettings, ("global",)), *fields(LlmSettings, ("llm",))]
OF_A_PROJECT = list(fields(Endpoint, ("endpoint", "shared")))


def test_the_template_is_valid_and_equals_the_defaults() -> None:
    settings, warnings = parse(TEMPLATE)
    assert warnings == []
    assert settings.global_ == GlobalSettings()
    assert settings.llm == LlmSettings()
    assert list(settings.endpoints) == ["shared", "default"]
    assert settings.users == {}


def test_the_template_sets_every_setting_under_a_comment_of_its_own() -> None:
    lines = TEMPLATE.splitlines()
    toml = TomlText(TEMPLATE)
    for place in GENERAL + OF_A_PROJECT:
        values = toml.values()
        for name in place[:-1]:
            values = values[name]
        assert place[-1] in values, place
        line = toml.line_of(place)
        assert line is not None
        above = lines[: line - 1]
        while above[-1] and not above[-1].startswith(("#", "[")):
            above.pop()
        assert above[-1].startswith("# "), place


@pytest.mark.parametrize("place", GENERAL, ids=".".join)
def test_the_page_names_every_setting_with_its_default(place: tuple[str, ...]) -> None:
    values = TomlText(TEMPLATE).values()
    for name in place:
        values = values[name]
    shown = msgspec.json.encode(values).decode()
    assert (place[-1], shown) in rows(".".join(place[:-1]))


def test_the_page_names_every_setting_of_projects_users_and_keys() -> None:
    assert {name for name, _ in rows("endpoint.<name>")} == {place[-1] for place in OF_A_PROJECT}
    assert {name for name, _ in rows("users.<name>")} == {"tier", "apiKey", "keys"}
    assert {name for name, _ in rows("users.<name>.keys")} == {
        place[-1] for place in fields(KeyRecord, ())
    }


def rows(section: str) -> list[tuple[str, str]]:
    """Return name and default of each row below the heading of a section."""
    page = PAGE.read_text(encoding="utf-8")
    _, _, below = page.partition(f"## `[{section}]`\n")
    table = below.partition("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| `?([^|`]*)`? \|", table, re.MULTILINE)
