"""Verbs for consolidation, contradictions and duplicates."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_text, shared_options
from qms.cli.calls import Columns, Fields, calls, removes, warn
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.fields import KIND_NAMES, KINDS, RETENTIONS, wire_fields
from qms.cli.get import find
from qms.cli.lists import filter_options
from qms.cli.target import Asked, open_session
from qms.memory.bodies import Kind
from qms.memory.entry import Retention, split_id


@click.command(
    cls=Verb, example='memoryctl consolidate monday tuesday --title "The week" --dry-run'
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@click.option("--title", metavar="TEXT", help="Title of the result [made from theirs].")
@click.option("--body", metavar="TEXT|-", help="Its text [sentences of the sources].")
@click.option(
    "--kind",
    metavar="KIND",
    type=KINDS,
    default=Kind.NOTE.value,
    show_default=True,
    help=f"One of {KIND_NAMES}.",
)
@click.option(
    "--namespace", metavar="NAME", help="Its namespace [that of the sources, if they share one]."
)
@click.option(
    "--retention",
    type=RETENTIONS,
    default=Retention.LONG.value,
    show_default=True,
    help="Retention of the result.",
)
@click.option("--force", is_flag=True, help="Include permanent memories; admins only.")
@removes(
    "consolidateEntries",
    what="merge {consolidated} memories into {title!r}".format_map,
    done="{consolidated} memories merged; they are in the archive",
    asks=lambda given: _consolidation(**given),
    of_entry="ids",
    ends=warn,
)
def consolidate(answer: Fields) -> None:
    """Merge 2 to 100 memories into one; the sources go to the archive."""
    if answer["id"] is not None:
        output.line(answer["id"])


def _consolidation(body: str | None, **wanted: Any) -> Fields:
    summary = {} if body is None else {"summary": read_text(body, "body")}
    return {**wire_fields(wanted), **summary}


def _list_groups(answer: Fields) -> None:
    for group in answer["groups"]:
        output.note(f"{group['title']}: {', '.join(group['ids'])}")


@click.command(
    "auto-consolidate", cls=Verb, example="memoryctl auto-consolidate --short-only --dry-run"
)
@click.option(
    "--by",
    type=click.Choice(["tag", "similarity"]),
    default="tag",
    show_default=True,
    help="How to group memories.",
)
@click.option(
    "--min-count",
    "minCount",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    help="Smallest group.",
)
@click.option("--short-only", "shortOnly", is_flag=True, help="Only memories of retention short.")
@click.option("--namespace", metavar="NAME", help="Only in this namespace.")
@removes(
    "autoConsolidate",
    what=lambda answer: f"merge {len(answer['groups'])} groups",
    done="{consolidated} memories consolidated",
    count="groups",
    none="nothing to consolidate",
    lists=_list_groups,
)
def auto_consolidate(answer: Fields) -> None:
    """Consolidate provisional memories that share their first tag, or are similar."""
    for group in answer["groups"]:
        if "id" in group:
            output.line(group["id"])


_PAIRS = Columns(
    {
        "ID": lambda one: split_id(one["id"])[1],
        "AGAINST": lambda one: split_id(one["otherId"])[1],
        "WHY": "reason",
    },
    flexible=0,
    empty="nothing found",
)
_ALIKE = Columns(
    {
        "SCORE": lambda pair: f"{pair['score']:.3f}",
        "ID": lambda pair: split_id(pair["a"])[1],
        "AND": lambda pair: split_id(pair["b"])[1],
        "TITLE": "titleA",
    },
    flexible=3,
    items="pairs",
    empty="nothing found",
)


@click.command(cls=Verb, example="memoryctl contradictions --kind fact")
@filter_options
@calls("listContradictions", asks=lambda given: {"filter": wire_fields(given)})
def contradictions(answer: dict[str, Any]) -> None:
    """List pairs of memories that contradict each other, by relation or by rule."""
    _PAIRS(answer)
    if answer["hasMore"]:
        output.note(f"{len(answer['items'])} shown, more available")


@click.command(cls=Verb, example="memoryctl resolve port-5433 port-5432")
@click.argument("winner", metavar="WINNER")
@click.argument("loser", metavar="LOSER")
@removal_options
@shared_options
def resolve(asked: Asked, winner: str, loser: str, dry_run: bool, yes: bool) -> None:
    """Resolve a contradiction: WINNER supersedes LOSER, which ranks lower from then on."""
    with open_session(asked) as session:
        better, worse = find(session, winner), find(session, loser)
        request = {"winner": better["entry"]["id"], "loser": worse["entry"]["id"]}
        answer = {**request, "version": better["version"]}
        what = f"let {better['entry']['title']!r} supersede {worse['entry']['title']!r}"
        if is_wanted(what, dry_run=dry_run, yes=yes):
            project = session.project_of(winner)
            answer = session.call(project, "resolveContradiction", request)
            output.note(f"{answer['loser']} is superseded")
    if asked.as_json:
        output.answer(answer)


@click.command(cls=Verb, example="memoryctl duplicates --threshold 0.95")
@filter_options
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.9,
    show_default=True,
    help="Minimum similarity; 1 is identical.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Maximum number of pairs.",
)
@calls("findDuplicates", asks=lambda given: _duplicates_request(**given))
def duplicates(answer: dict[str, Any]) -> None:
    """Find pairs of memories with nearly the same meaning."""
    _ALIKE(answer)
    output.note(f"{answer['compared']} memories compared")


def _duplicates_request(threshold: float, limit: int, **wanted: Any) -> dict[str, Any]:
    return {"filter": wire_fields(wanted), "threshold": threshold, "maxPairs": limit}
