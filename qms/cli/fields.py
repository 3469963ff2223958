"""The options that fill the fields of an entry, shared by the verbs that write one."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

import click

from qms.cli.arguments import read_pairs
from qms.cli.moments import moment_option, wire_text
from qms.domain.bodies import Kind
from qms.domain.entry import CurationTier, Retention

KINDS = click.Choice([kind.value for kind in Kind])
KIND_NAMES = ", ".join(kind.value for kind in Kind)
CURATION_TIERS = click.Choice([curation.value for curation in CurationTier])
RETENTIONS = click.Choice([retention.value for retention in Retention])

# The names that the options have in Python are those that the fields have on the wire.
_OPTIONS = (
    click.option("--title", metavar="TEXT", help="Its title; else the beginning of the text."),
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated."),
    click.option(
        "--keyword", "keywords", metavar="WORD", multiple=True, help="A keyword; may be repeated."
    ),
    click.option("--namespace", metavar="NAME", help="Its part of the project."),
    click.option("--priority", type=click.IntRange(1, 10), help="How much it weighs."),
    click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is."),
    click.option("--pinned/--no-pinned", default=None, help="Whether it must be shown."),
    click.option(
        "--permanent/--no-permanent", "isPermanent", default=None, help="Whether it must stay."
    ),
    click.option("--curation-tier", "curationTier", type=CURATION_TIERS, help="How trusted it is."),
    click.option("--retention", type=RETENTIONS, help="How long it lives."),
    moment_option(
        "--ttl", "ttlUtc", is_past=False, help="When it ends: 2026-12-31, or 30d from now."
    ),
    click.option("--source-type", "sourceType", metavar="TYPE", help="What it comes from."),
    click.option("--epic-slug", "epicSlug", metavar="SLUG", help="The epic it belongs to."),
    click.option("--epic-case", "epicCase", metavar="CASE", help="The case inside the epic."),
    click.option(
        "--metadata", metavar="KEY=VALUE", multiple=True, help="Metadata; may be repeated."
    ),
)


def entry_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options for an entry; it gets what was set as one object `fields`."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        fields = wire_fields({name: kwargs.pop(name) for name in names})
        if (source_type := fields.pop("sourceType", None)) is not None:
            fields["source"] = {"type": source_type}
        function(*args, fields=fields, **kwargs)

    names: list[str] = []
    for option in reversed(_OPTIONS):
        run = option(run)
        names.append(run.__click_params__[-1].name)  # type: ignore[attr-defined]  # set by click
    return run


def wire_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were set, as requests spell their values."""
    fields = {name: value for name, value in given.items() if value not in (None, ())}
    if "metadata" in fields:
        fields["metadata"] = read_pairs(fields["metadata"], "metadata")
    return {
        name: wire_text(value) if isinstance(value, datetime) else value
        for name, value in fields.items()
    }
