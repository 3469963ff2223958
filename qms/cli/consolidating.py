"""`memoryctl consolidate`, `contradictions`, `resolve`, `duplicates`: fewer and truer memories."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_text, shared_options
from qms.cli.fields import KIND_NAMES, KINDS, RETENTIONS, wire_fields
from qms.cli.listing import filter_options
from qms.cli.reading import find
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, open_session
from qms.domain.bodies import Kind
from qms.domain.entry import Retention, split_id


@click.command(
    cls=Verb, example='memoryctl consolidate monday tuesday --title "The week" --dry-run'
)
@click.argument("entry_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--title", metavar="TEXT", help="The title of the one; else made of theirs.")
@click.option("--body", metavar="TEXT|-", help="Its text; else sentences of the sources.")
@click.option(
    "--kind",
    metavar="KIND",
    type=KINDS,
    default=Kind.NOTE.value,
    show_default=True,
    help=f"One of {KIND_NAMES}.",
)
@click.option("--namespace", metavar="NAME", help="Its part of the project; else that of all.")
@click.option(
    "--retention",
    type=RETENTIONS,
    default=Retention.LONG.value,
    show_default=True,
    help="How long it lives.",
)
@removal_options
@shared_options
def consolidate(
    asked: Asked,
    entry_ids: tuple[str, ...],
    body: str | None,
    dry_run: bool,
    yes: bool,
    **wanted: Any,
) -> None:
    """Make one memory of 2 to 100; the sources go to the archive."""
    request = {"ids": entry_ids, **wire_fields(wanted)}
    if body is not None:
        request["summary"] = read_text(body, "body")
    with open_session(asked) as session:
        project = session.project_of(entry_ids[0])
        answer = session.call(project, "consolidateEntries", {**request, "dryRun": True})
        what = f"make one memory of {answer['consolidated']}: {answer['title']!r}"
        if is_wanted(what, dry_run=dry_run, yes=yes):
            answer = session.call(project, "consolidateEntries", request)
            output.note(f"{answer['consolidated']} became one; they are kept in the archive")
    if asked.as_json:
        output.answer(answer)
    elif answer["id"] is not None:
        output.line(answer["id"])
    for warning in answer.get("warnings", ()):
        output.warning(warning)


@click.command(
    "auto-consolidate", cls=Verb, example="memoryctl auto-consolidate --short-only --dry-run"
)
@click.option(
    "--by",
    type=click.Choice(["tag", "similarity"]),
    default="tag",
    show_default=True,
    help="What belongs together.",
)
@click.option(
    "--min-count",
    "minCount",
    type=click.IntRange(2, 100),
    default=3,
    show_default=True,
    help="From how many on.",
)
@click.option("--short-only", "shortOnly", is_flag=True, help="Only those of retention short.")
@click.option("--namespace", metavar="NAME", help="Only in this part of the project.")
@removal_options
@shared_options
def auto_consolidate(asked: Asked, dry_run: bool, yes: bool, **wanted: Any) -> None:
    """Consolidate provisional memories that share their first tag, or are alike."""
    request = wire_fields(wanted)
    with open_session(asked) as session:
        answer = session.call(session.project, "autoConsolidate", {**request, "dryRun": True})
        for group in answer["groups"]:
            output.note(f"{group['title']}: {', '.join(group['ids'])}")
        if not answer["groups"]:
            output.note("nothing belongs together")
        elif is_wanted(f"make {len(answer['groups'])} memories of these", dry_run=dry_run, yes=yes):
            answer = session.call(session.project, "autoConsolidate", request)
            output.note(f"{answer['consolidated']} memories consolidated")
    if asked.as_json:
        output.answer(answer)
    else:
        for group in answer["groups"]:
            if "id" in group:
                output.line(group["id"])


@click.command(cls=Verb, example="memoryctl contradictions --kind fact")
@filter_options
@shared_options
def contradictions(asked: Asked, **wanted: Any) -> None:
    """List memories that may not both be true, as relations state or rules suspect."""
    with open_session(asked) as session:
        request = {"filter": wire_fields(wanted)}
        answer = session.call(session.project, "listContradictions", request)
    if asked.as_json:
        output.answer(answer)
        return
    rows = [(_local(one["id"]), _local(one["otherId"]), one["reason"]) for one in answer["items"]]
    if not rows:
        output.note("nothing found")
        return
    output.table(("ID", "AGAINST", "WHY"), rows, flexible=0)
    if answer["hasMore"]:
        output.note(f"{len(rows)} shown, and there are more")


@click.command(cls=Verb, example="memoryctl resolve port-5433 port-5432")
@click.argument("winner", metavar="WINNER")
@click.argument("loser", metavar="LOSER")
@removal_options
@shared_options
def resolve(asked: Asked, winner: str, loser: str, dry_run: bool, yes: bool) -> None:
    """Say which of two memories holds: it supersedes the other, which sinks."""
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
    help="How alike two must be; 1 is the same.",
)
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="At most so many pairs.",
)
@shared_options
def duplicates(asked: Asked, threshold: float, limit: int, **wanted: Any) -> None:
    """Find pairs of memories that say nearly the same, by their meaning."""
    request = {"filter": wire_fields(wanted), "threshold": threshold, "maxPairs": limit}
    with open_session(asked) as session:
        answer = session.call(session.project, "findDuplicates", request)
    if asked.as_json:
        output.answer(answer)
        return
    rows = [
        (f"{pair['score']:.3f}", _local(pair["a"]), _local(pair["b"]), pair["titleA"])
        for pair in answer["pairs"]
    ]
    if rows:
        output.table(("SCORE", "ID", "AND", "TITLE"), rows, flexible=3)
    else:
        output.note("nothing found")
    output.note(f"{answer['compared']} memories compared")


def _local(entry_id: str) -> str:
    return split_id(entry_id)[1]
