"""Options for the fields of an entry, shared by the verbs that write one."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

import click

from qms.cli.arguments import read_pairs
from qms.cli.instants import moment_option, wire_text
from qms.memory.bodies import Kind
from qms.memory.entry import CurationTier, Retention

KINDS = click.Choice([kind.value for kind in Kind])
KIND_NAMES = ", ".join(kind.value for kind in Kind)
CURATION_TIERS = click.Choice([curation.value for curation in CurationTier])
RETENTIONS = click.Choice([retention.value for retention in Retention])

# The Python names of the options are the JSON names of the fields.
_OPTIONS = (
    click.option("--title", metavar="TEXT", help="Title [start of the text]."),
    click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated."),
    click.option(
        "--keyword", "keywords", metavar="WORD", multiple=True, help="A keyword; may be repeated."
    ),
    click.option("--namespace", metavar="NAME", help="Namespace within the project."),
    click.option("--priority", type=click.IntRange(1, 10), help="Weight in search results."),
    click.option("--confidence", type=click.FloatRange(0, 1), help="How certain it is."),
    click.option("--pinned/--no-pinned", default=None, help="Always show it to agents first."),
    click.option(
        "--permanent/--no-permanent", "isPermanent", default=None, help="Protect from deletion."
    ),
    click.option("--curation-tier", "curationTier", type=CURATION_TIERS, help="Trust level."),
    click.option("--retention", type=RETENTIONS, help="Retention; long is forever."),
    moment_option(
        "--ttl", "ttlUtc", is_past=False, help="When it expires: 2026-12-31, or 30d from now."
    ),
    click.option("--source-type", "sourceType", metavar="TYPE", help="Type of its source."),
    click.option("--epic-slug", "epicSlug", metavar="SLUG", help="Epic that it belongs to."),
    click.option("--epic-case", "epicCase", metavar="CASE", help="Case within the epic."),
    click.option(
        "--metadata", metavar="KEY=VALUE", multiple=True, help="Metadata; may be repeated."
    ),
)


def entry_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of an entry; the verb gets those that were set as one object `fields`."""

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
    """Return the options that were set, with their values as in JSON requests."""
    fields = {name: value for name, value in given.items() if value not in (None, ())}
    if "metadata" in fields:
        fields["metadata"] = read_pairs(fields["metadata"], "metadata")
    return {
        name: wire_text(value) if isinstance(value, datetime) else value
        for name, value in fields.items()
    }
