"""`memoryctl promote`, `gc`, `stats`, `namespaces`: how long memories live, and how many do."""

from typing import Any

import click

from qms.cli import output, shell_view
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import RETENTIONS
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, open_session
from qms.domain.entry import Retention


@click.command(cls=Verb, example="memoryctl promote release-train")
@click.argument("entry_id", metavar="ID")
@click.option(
    "--retention",
    type=RETENTIONS,
    default=Retention.LONG.value,
    show_default=True,
    help="How long it lives from now on.",
)
@click.option("--if-version", metavar="VERSION", help="Promote only this version.")
@shared_options
def promote(asked: Asked, entry_id: str, retention: str, if_version: str | None) -> None:
    """Let a memory live longer, for ever unless told otherwise."""
    request = {"id": entry_id, "retention": retention, "ifVersion": if_version}
    with open_session(asked) as session:
        answer = session.call(session.project_of(entry_id), "promoteEntry", request)
    if asked.as_json:
        output.answer(answer)
        return
    entry = answer["entry"]
    output.line(entry["id"])
    output.note(f"it lives until {entry['ttlUtc']}" if "ttlUtc" in entry else "it lives for ever")


@click.command(cls=Verb, example="memoryctl gc --dry-run")
@removal_options
@shared_options
def gc(asked: Asked, dry_run: bool, yes: bool) -> None:
    """Take out memories that are past their end now, instead of within minutes."""
    with open_session(asked) as session:
        answer = session.call(session.project, "gc", {"dryRun": True})
        count = answer["expired"]
        if not count:
            output.note("nothing is past its end")
        elif is_wanted(f"take out {count} past their end", dry_run=dry_run, yes=yes):
            answer = session.call(session.project, "gc", {})
            output.note(f"{answer['expired']} taken out")
    if asked.as_json:
        output.answer(answer)
    else:
        for entry_id in answer["ids"]:
            output.line(entry_id)


@click.command(cls=Verb, example="memoryctl stats --project default")
@shared_options
def stats(asked: Asked) -> None:
    """Count memories by lifespan, kind, trust and namespace, and what ends soon."""
    with open_session(asked) as session:
        answer = session.call(session.project, "stats", {})
    if asked.as_json:
        output.answer(answer)
        return
    shell_view.show_stats(answer)
    for name, counts in _counts(answer).items():
        output.line(f"{name}:")
        for one, count in counts:
            output.line(f"  {one:<20}{count:>8,}")


@click.command(cls=Verb, example="memoryctl namespaces")
@shared_options
def namespaces(asked: Asked) -> None:
    """List the namespaces with their number of memories, the largest first."""
    with open_session(asked) as session:
        answer = session.call(session.project, "namespaces", {})
    if asked.as_json:
        output.answer(answer)
    elif answer["namespaces"]:
        shell_view.show_namespaces(answer["namespaces"])
    else:
        output.note("nothing found")


def _counts(answer: dict[str, Any]) -> dict[str, list[tuple[str, int]]]:
    in_namespaces = [(one["namespace"] or "(none)", one["count"]) for one in answer["byNamespace"]]
    counts = {
        "kinds": list(answer["byKind"].items()),
        "curation": list(answer["byCurationTier"].items()),
        "namespaces": in_namespaces,
    }
    return {name: rows for name, rows in counts.items() if rows}
