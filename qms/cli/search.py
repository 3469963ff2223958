"""`memoryctl search` and `recall`: find memories by keyword and meaning."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import wire_fields
from qms.cli.lists import filter_options, format_option, is_text, show_text
from qms.cli.target import Asked, open_session
from qms.cli.wire import KEYWORD, KEYWORD_HASH, MAX_RECALLED, PROFILES
from qms.memory.filters import Include

_RESULTS = 10
_HIDDEN_STAGES = frozenset({"score", "relevance"})

_include_option = click.option(
    "--include",
    type=click.Choice([include.value for include in Include]),
    default=Include.SUMMARY.value,
    show_default=True,
    help="Parts of each memory to print; with --json.",
)


@click.command("search", cls=Verb, example='memoryctl search "how is the index rebuilt" --limit 5')
@click.argument("text")
@filter_options
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=_RESULTS,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--all-words", is_flag=True, help="Only memories that contain every word.")
@click.option("--no-shared", is_flag=True, help="Exclude the shared store.")
@click.option("--superseded", is_flag=True, help="Include superseded memories.")
@click.option("--explain", is_flag=True, help="Show the score of every stage.")
@_include_option
@format_option
@shared_options
def search(
    asked: Asked,
    text: str,
    limit: int,
    all_words: bool,
    no_shared: bool,
    superseded: bool,
    explain: bool,
    include: str,
    form: str | None,
    **wanted: Any,
) -> None:
    """Find memories by keyword and meaning, best first."""
    query = {
        "text": text,
        "maxResults": limit,
        "match": "all" if all_words else "any",
        "includeShared": not no_shared,
        "includeSuperseded": superseded,
        "explain": explain,
        "filter": wire_fields(wanted),
    }
    if is_text(form):
        show_text(asked, "searchEntries", {"query": query, "include": include, "format": form})
        return
    is_json = asked.as_json or form is not None
    shown = include if is_json else Include.SUMMARY.value
    with open_session(asked) as session:
        found = session.call(session.project, "searchEntries", {"query": query, "include": shown})
    _show_found(found, is_json=is_json, is_explained=explain)


@click.command("recall", cls=Verb, example='memoryctl recall "how do we deploy the parser"')
@click.argument("context")
@filter_options
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, MAX_RECALLED),
    default=_RESULTS,
    show_default=True,
    help=f"Maximum number of results, up to {MAX_RECALLED}.",
)
@click.option(
    "--profile",
    type=click.Choice(PROFILES),
    default=PROFILES[0],
    show_default=True,
    help="Weights of the ranking.",
)
@click.option("--no-shared", is_flag=True, help="Exclude the shared store.")
@click.option("--no-touch", is_flag=True, help="Do not count the results as used.")
@_include_option
@format_option
@shared_options
def recall(
    asked: Asked,
    context: str,
    limit: int,
    profile: str,
    no_shared: bool,
    no_touch: bool,
    include: str,
    form: str | None,
    **wanted: Any,
) -> None:
    """Find memories for a context; each result counts as used, which extends its retention."""
    request = {
        "query": context,
        "limit": limit,
        "profile": profile,
        "includeShared": not no_shared,
        "touch": not no_touch,
        "filter": wire_fields(wanted),
    }
    if is_text(form):
        show_text(asked, "recall", {**request, "include": include, "format": form})
        return
    is_json = asked.as_json or form is not None
    shown = include if is_json else Include.SNIPPET.value
    with open_session(asked) as session:
        found = session.call(session.project, "recall", {**request, "include": shown})
    if is_json:
        output.answer(found)
    elif not found["memories"]:
        output.note("nothing found")
    else:
        results = [{**one, "snippet": one["text"], "entry": one} for one in found["memories"]]
        _show_table(results, is_explained=False)


def _show_found(found: dict[str, Any], *, is_json: bool, is_explained: bool = False) -> None:
    if is_json:
        output.answer(found)
        return
    if not found["results"]:
        output.note("nothing found")
    else:
        _show_table(found["results"], is_explained=is_explained)
    if found["mode"] == KEYWORD_HASH:
        output.note(f"search mode {found['mode']}: no embedding model is loaded")
    elif found["mode"] == KEYWORD:
        output.note("searched by keyword only, not by meaning")
    for one in found["skipped"]:
        if one["stage"] == "vector":
            output.note(one["reason"])


def _show_table(results: list[dict[str, Any]], *, is_explained: bool) -> None:
    rows = [
        (
            f"{result['score']:.3f}",
            result["snippet"] or result["entry"]["title"],
            result["entry"]["id"],
            result["entry"]["kind"],
        )
        for result in results
    ]
    output.table(["SCORE", "FOUND", "ID", "KIND"], rows, flexible=1)
    if is_explained:
        for result in results:
            output.line("")
            output.line(result["entry"]["id"])
            stages = [one for one in result["scores"].items() if one[0] not in _HIDDEN_STAGES]
            output.table(
                ["STAGE", "SCORE"], [(name, f"{value:.4f}") for name, value in stages], flexible=0
            )
