"""What `docs/service.md` says of the service is what the program does."""

import re
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from qms.app.service_facts import EXPLANATIONS, LABEL
from qms.config.toml_file import parse
from qms.platforms.service_control import SERVICE_NAME
from qms.platforms.systemd_unit import DEFAULT_ROOT
from tests.house.pages import read

PAGE = "docs/service.md"


def example(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", read(PAGE), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def test_every_exit_code_stands_in_the_table_with_its_meaning() -> None:
    rows = dict(re.findall(r"^\| (\d+) \| ([^:|]+)", read(PAGE), re.MULTILINE))

    assert {int(code): meaning.strip() for code, meaning in rows.items()} == {
        code: meaning.split(":")[0] for code, meaning in EXPLANATIONS.items()
    }


def test_the_names_and_places_are_those_of_the_program() -> None:
    page = read(PAGE)

    assert f"the service `{SERVICE_NAME}`" in page
    assert f"`{LABEL}.service`" in page
    assert f"`{PurePosixPath(DEFAULT_ROOT)}`" in page


def test_the_settings_behind_a_proxy_are_valid() -> None:
    settings, warnings = parse(example("toml"))

    assert settings.global_.behind_proxy
    assert warnings == []


def test_the_rule_for_iis_is_well_formed() -> None:
    rule = ET.fromstring(example("xml")).find(".//rule/action")

    assert rule is not None
    assert rule.attrib["url"] == "http://127.0.0.1:5080/{R:1}"
