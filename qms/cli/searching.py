"""`memoryctl search` and `recall`: memories by words and meaning, best first."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.fields import wire_fields
from qms.cli.listing import filter_options, format_option, is_text, show_text
from qms.cli.target import Asked, open_session
from qms.domain.queries import Include
from qms.search.profiles import ProfileName
from qms.service.recalling import MAX_LIMIT

_RESULTS = 10
_HIDDEN_STAGES = frozenset({"score", "relevance"})

_include_option = click.option(
    "--include",
    type=click.Choice([include.value for include in Include]),
    default=Include.SUMMARY.value,
    show_default=True,
    help="How much of each memory; with --json.",
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
    help="At most so many.",
)
@click.option("--all-words", is_flag=True, help="Only memories with every word.")
@click.option("--no-shared", is_flag=True, help="Leave the shared store out.")
@click.option("--superseded", is_flag=True, help="Show what was replaced, too.")
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
    """Find memories by words and meaning, best first."""
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
    type=click.IntRange(1, MAX_LIMIT),
    default=_RESULTS,
    show_default=True,
    help=f"At most so many; {MAX_LIMIT} is the most.",
)
@click.option(
    "--profile",
    type=click.Choice([name.value for name in ProfileName]),
    default=ProfileName.DEFAULT.value,
    show_default=True,
    help="What weighs how much.",
)
@click.option("--no-shared", is_flag=True, help="Leave the shared store out.")
@click.option("--no-touch", is_flag=True, help="Only look: nothing counts as used.")
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
    """Recall what any word or the sense of a context brings; what is used lives longer."""
    request = {
        "context": context,
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
    shown = include if is_json else Include.SUMMARY.value
    with open_session(asked) as session:
        found = session.call(session.project, "recall", {**request, "include": shown})
    _show_found(found, is_json=is_json)


def _show_found(found: dict[str, Any], *, is_json: bool, is_explained: bool = False) -> None:
    if is_json:
        output.answer(found)
        return
    if not found["results"]:
        output.note("nothing found")
    else:
        _show_table(found["results"], is_explained=is_explained)
    if found["mode"] != "hybrid":
        output.note(f"searched by {found['mode']}: the model is not in use")


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
