"""Error codes and settings are documented, each by its own name."""

import re
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from qms.config.settings import Settings
from qms.domain import errors
from qms.domain.limits import Limits
from qms.service.admin.table import ADMIN_TABLE
from tests.house.pages import read, table_rows
from tests.support.house import House, key_of


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

    assert documented == {
        (f"`{row.route.method} {row.route.path}`", f"`{row.name}`")
        for row in ADMIN_TABLE
        if row.route is not None
    }
