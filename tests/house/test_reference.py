"""Error codes and settings are documented, each by its own name."""

import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.config.settings import Settings
from qms.memory import errors
from qms.memory.limits import Limits
from tests.house.pages import read, table_rows
from tests.support.house import House, key_of
from tools.document_reference import (
    CONFIGURATION,
    METRICS,
    SECTIONS,
    UNSAID,
    fill_configuration,
    fill_metrics,
)


def error_classes() -> list[type[errors.QmsError]]:
    return [errors.QmsError, *errors.QmsError.__subclasses__()]


def test_the_error_page_has_the_code_status_and_exit_code_of_every_error() -> None:
    documented = {tuple(row[:3]) for row in table_rows(read("docs/errors.md"))}

    assert {
        (f"`{error.code}`", str(error.http_status), str(error.exit_code))
        for error in error_classes()
    } <= documented


def test_the_error_page_names_no_code_that_does_not_exist() -> None:
    codes = {f"`{error.code}`" for error in error_classes()}

    assert {row[0] for row in table_rows(read("docs/errors.md")) if row[0].startswith("`")} == codes


def test_the_error_tree_in_the_docstring_names_every_class() -> None:
    drawing = errors.__doc__ or ""

    assert [error.__name__ for error in error_classes() if error.__name__ not in drawing] == []


def setting_names(declared: Any) -> Iterator[str]:
    """Yield the TOML name of every setting below a type."""
    if isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        for field in msgspec.structs.fields(declared):
            yield field.encode_name
            yield from setting_names(field.type)
        return
    for part in typing.get_args(declared):
        yield from setting_names(part)


def test_every_setting_is_on_the_configuration_page() -> None:
    page = read("docs/configuration.md")

    sections = {part for head in re.findall(r"\[([A-Za-z.]+)", page) for part in head.split(".")}

    missing = {
        name
        for name in setting_names(Settings)
        if f"`{name}`" not in page and sections.isdisjoint({name, name.removesuffix("s")})
    }

    assert missing == set()


@pytest.mark.parametrize(
    ("path", "fill"), [(CONFIGURATION, fill_configuration), (METRICS, fill_metrics)]
)
def test_the_tables_of_the_reference_are_as_the_code_has_them(
    path: Path, fill: Callable[[str], str]
) -> None:
    page = path.read_text(encoding="utf-8")

    # `uv run python tools/document_reference.py` brings the page up to date.
    assert fill(page) == page
    assert UNSAID not in [cell for row in table_rows(page) for cell in row]


def test_what_the_reference_says_wrongly_is_put_right() -> None:
    settings, metrics = CONFIGURATION.read_text("utf-8"), METRICS.read_text("utf-8")
    wrong = settings.replace("| `30` | 1 to 3650 |", "| `31` | 1 to 9 |")
    short = re.sub(r"^\| `logKeep` .*\n", "", settings, flags=re.MULTILINE)
    typed = metrics.replace("| histogram | `outcome` |", "| gauge | |")

    assert fill_configuration(wrong) == settings != wrong
    assert "| `logKeep` | `5` | 1 to 10000 | ? |" in fill_configuration(short)
    assert fill_metrics(typed) == metrics != typed


def test_every_section_of_the_settings_is_one_of_the_reference() -> None:
    types = {kind.__name__ for kind in SECTIONS.values()}
    walked = {"Settings"}
    waiting: list[Any] = [Settings]
    while waiting:
        declared = waiting.pop()
        if isinstance(declared, type) and issubclass(declared, msgspec.Struct):
            walked.add(declared.__name__)
            waiting += [field.type for field in msgspec.structs.fields(declared)]
        waiting += typing.get_args(declared)

    assert walked == types | {"Settings"}


def test_every_limit_is_a_setting_that_the_walk_over_the_types_finds() -> None:
    assert set(setting_names(dict[str, Limits])) >= {"titleBytes", "importBytes"}


def test_every_metric_is_on_the_metrics_page_with_its_type_and_labels(house: House) -> None:
    key = ("x-api-key", key_of("admin"))
    page = house.client.request("GET", "/metrics", headers=[key]).body.decode()
    declared = dict(re.findall(r"^# TYPE (qms_\S+) (\S+)$", page, re.MULTILINE))
    rows = {row[0].strip("`"): row[1] for row in table_rows(read("docs/metrics.md"))}

    assert declared == rows


def test_the_administration_page_has_exactly_the_routes_of_the_table() -> None:
    documented = {tuple(row[:2]) for row in table_rows(read("docs/administration.md"))}

    routes = [(row.route, row.name) for row in ADMIN_TABLE if row.route is not None]
    routes += [(row.care_route, row.name) for row in TABLE if row.care]
    assert documented == {(f"`{at.method} {at.path}`", f"`{name}`") for at, name in routes}
