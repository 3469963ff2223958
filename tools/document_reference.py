"""Write the tables of settings and metrics into docs/configuration.md and docs/metrics.md.

Run it after adding or changing one; tests/house fails while a page and the code disagree. Rows,
their order, defaults, types, labels and the ranges of types come from the code. Meanings, and
ranges that no type can state, are prose: they stay as in the page. A new row gets a question mark
there, which the tests refuse.
"""

import re
import typing
from collections.abc import Iterable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric

from qms.config.api_keys import KeyRecord
from qms.config.settings import (
    BackupSettings,
    EmbeddingSettings,
    Endpoint,
    GlobalSettings,
    LlmSettings,
    RateSettings,
    RerankerSettings,
    SummarizerSettings,
    User,
)
from qms.http.metrics import metric_families
from qms.memory.limits import Limits
from qms.memory.retention import RetentionLengths
from qms.telemetry import metrics

_DOCS = Path(__file__).resolve().parent.parent / "docs"
CONFIGURATION = _DOCS / "configuration.md"
METRICS = _DOCS / "metrics.md"

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "global": GlobalSettings,
    "global.embedding": EmbeddingSettings,
    "global.reranker": RerankerSettings,
    "global.summarizer": SummarizerSettings,
    "global.backup": BackupSettings,
    "global.retention": RetentionLengths,
    "global.limits": Limits,
    "global.rate": RateSettings,
    "llm": LlmSettings,
    "endpoint.<name>": Endpoint,
    "users.<name>": User,
    "users.<name>.keys": KeyRecord,
}
"""Each section of the page, and the type of its settings."""

BY_HAND = {"users.<name>": ("tier", "apiKey", "keys")}
"""Sections with a setting that is not a field: a plain `apiKey` is replaced by its hash at load."""

UNSAID = "?"

_ROW = re.compile(r"^\| .* \|$", re.MULTILINE)
_TABLE = re.compile(r"(?:^\|.*\|\n)+", re.MULTILINE)

Rows = dict[str, list[str]]


def fill_configuration(page: str) -> str:
    """Return the page with the rows of every section filled from the settings."""
    for section, kind in SECTIONS.items():
        heading = f"## `[{section}]`\n"
        before, found, below = page.partition(heading)
        assert found, f"{CONFIGURATION.name} has no section {section}"
        fill = partial(_settings_table, section=section, kind=kind)
        page = before + heading + _TABLE.sub(fill, below, count=1)
    return page


def fill_metrics(page: str) -> str:
    """Return the page with a row for every declared metric."""
    said = _rows(page)
    rows = []
    for family in metric_families():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        labels = ", ".join(f"`{label}`" for label in _labels(family))
        meaning = said.get(name, [""])[-1] or UNSAID
        rows.append([f"`{name}`", family.type, labels, meaning])
    # In the order of the page; new ones come last.
    order = list(said)
    rows.sort(key=lambda row: _position(order, row[0].strip("`")))
    return _TABLE.sub(lambda table: _table(_head(table[0]), rows), page, count=1)


def _settings_table(found: re.Match[str], section: str, kind: type[msgspec.Struct]) -> str:
    table, said = found[0], _rows(found[0])
    if names := BY_HAND.get(section):
        return _table(_head(table), [said[name] for name in names])
    rows = [
        _setting(field, said.get(field.encode_name))
        for field in msgspec.structs.fields(kind)
        if not _is_section(field.type)
    ]
    return _table(_head(table), rows)


def _setting(field: msgspec.structs.FieldInfo, said: list[str] | None) -> list[str]:
    kept = said or [field.encode_name, UNSAID, UNSAID, UNSAID]
    default = _default(field, kept[1])
    return [f"`{field.encode_name}`", default, _range(field.type) or kept[2], kept[3]]


def _default(field: msgspec.structs.FieldInfo, said: str) -> str:
    # A default that depends on another setting is prose: "the slug", "(needed)".
    if not said.startswith("`") and said != UNSAID:
        return said
    return f"`{msgspec.json.encode(field.default).decode()}`"


def _range(declared: Any) -> str:
    """Return the range of a type, or an empty string."""
    if declared is bool:
        return "true, false"
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return ", ".join(f"`{value}`" for value in declared)
    bounds = [meta for meta in getattr(declared, "__metadata__", ()) if meta.ge is not None]
    return "".join(f"{_number(meta.ge)} to {_number(meta.le)}" for meta in bounds)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)


def _is_section(declared: Any) -> bool:
    origin = typing.get_origin(declared) or declared
    return isinstance(origin, type) and issubclass(origin, msgspec.Struct)


def _labels(family: Metric) -> tuple[str, ...]:
    """Return the declared labels of a metric; the library has no public access to them."""
    declared = {
        getattr(one, "_name", ""): one
        for one in vars(metrics).values()
        if isinstance(one, MetricWrapperBase)
    }
    return tuple(getattr(declared.get(family.name, family), "_labelnames", ()))


def _rows(text: str) -> Rows:
    lines = (row[0].removeprefix("|").removesuffix("|") for row in _ROW.finditer(text))
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return {row[0].strip("`"): row for row in cells if row[0].startswith("`")}


def _head(table: str) -> str:
    return "".join(table.splitlines(keepends=True)[:2])


def _table(head: str, rows: Iterable[list[str]]) -> str:
    return head + "".join(
        "".join(f"| {cell} " if cell else "| " for cell in row) + "|\n" for row in rows
    )


def _position(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def main() -> None:
    for path, fill in ((CONFIGURATION, fill_configuration), (METRICS, fill_metrics)):
        path.write_text(fill(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
