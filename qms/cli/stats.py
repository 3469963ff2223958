"""`memoryctl stats` and `namespaces`: count the memories of a project."""

from typing import Any

import click

from qms.cli import output, shell_view
from qms.cli.arguments import Verb
from qms.cli.calls import calls


@click.command(cls=Verb, example="memoryctl stats --project default")
@calls("stats")
def stats(answer: dict[str, Any]) -> None:
    """Count memories by retention, kind, curation tier and namespace."""
    shell_view.show_stats(answer)
    for name, counts in _counts(answer).items():
        output.line(f"{name}:")
        for one, count in counts:
            output.line(f"  {one:<20}{count:>8,}")


@click.command(cls=Verb, example="memoryctl namespaces")
@calls("namespaces")
def namespaces(answer: dict[str, Any]) -> None:
    """List the namespaces with their number of memories, largest first."""
    if answer["namespaces"]:
        shell_view.show_namespaces(answer["namespaces"])
    else:
        output.note("no namespaces yet")


def _counts(answer: dict[str, Any]) -> dict[str, list[tuple[str, int]]]:
    in_namespaces = [(one["namespace"] or "(none)", one["count"]) for one in answer["byNamespace"]]
    counts = {
        "kinds": list(answer["byKind"].items()),
        "curation": list(answer["byCurationTier"].items()),
        "namespaces": in_namespaces,
    }
    return {name: rows for name, rows in counts.items() if rows}
