"""`memoryctl search` and `recall`: find memories by keyword and meaning."""

import re
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import Fields, calls
from qms.cli.fields import wire_fields
from qms.cli.id_prefixes import shown_ids
from qms.cli.lists import filter_options, format_option
from qms.cli.wire import KEYWORD, KEYWORD_HASH, MAX_RECALLED, PROFILES
from qms.memory.filters import Include

_RESULTS = 10
_HIDDEN_STAGES = frozenset({"score", "relevance"})
_TERMS = re.compile(r"\*\*(.+?)\*\*")
_TITLE, _TERM, _FACTS = {"fg": "cyan"}, {"bold": True}, {"dim": True}

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
@calls(
    "searchEntries",
    asks=lambda given: _search_request(**given),
    table={"include": Include.SUMMARY.value},
    in_project=True,
)
def search(found: Fields, project: str) -> None:
    """Find memories by keyword and meaning, best first."""
    if not found["results"]:
        output.note("nothing found")
    else:
        _show_hits(found["results"], project)
    if found["mode"] == KEYWORD_HASH:
        output.note(f"search mode {found['mode']}: no embedding model is loaded")
    elif found["mode"] == KEYWORD:
        output.note("searched by keyword only, not by meaning")
    for one in found["skipped"]:
        if one["stage"] == "vector":
            output.note(one["reason"])


def _search_request(
    text: str,
    limit: int,
    all_words: bool,
    no_shared: bool,
    superseded: bool,
    explain: bool,
    include: str,
    **wanted: Any,
) -> Fields:
    query = {
        "text": text,
        "maxResults": limit,
        "match": "all" if all_words else "any",
        "includeShared": not no_shared,
        "includeSuperseded": superseded,
        "explain": explain,
        "filter": wire_fields(wanted),
    }
    return {"query": query, "include": include}


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
@calls(
    "recall",
    asks=lambda given: _recall_request(**given),
    table={"include": Include.SNIPPET.value},
    in_project=True,
)
def recall(found: Fields, project: str) -> None:
    """Find memories for a context; each result counts as used, which extends its retention."""
    results = [{**one, "snippet": one["text"], "entry": one} for one in found["memories"]]
    if results:
        _show_hits(results, project)
    else:
        output.note("nothing found")


def _recall_request(context: str, no_shared: bool, no_touch: bool, **given: Any) -> Fields:
    own = {name: given.pop(name) for name in ("limit", "profile", "include")}
    sides = {"includeShared": not no_shared, "touch": not no_touch}
    return {"query": context, **own, **sides, "filter": wire_fields(given)}


def _show_hits(results: list[Fields], project: str) -> None:
    """Print two lines a hit: its title; its id, kind, score and the text that was found."""
    ids = shown_ids([result["entry"]["id"] for result in results], project)
    widths = [max(map(len, ids)), max(len(result["entry"]["kind"]) for result in results)]
    for result, shown in zip(results, ids, strict=True):
        title, kind = result["entry"]["title"], result["entry"]["kind"]
        snippet = _styled_terms(result["snippet"] or "")
        is_title = "".join(text for text, _ in snippet).strip(" …") == title.strip(" …")
        facts = f"  {shown:<{widths[0]}}  {kind:<{widths[1]}}  {result['score']:.3f}"
        if is_title:
            output.styled_line(*snippet, fits=True)
            output.styled_line((facts, _FACTS), fits=True)
        else:
            output.styled_line((title, _TITLE), fits=True)
            output.styled_line((f"{facts}  ", _FACTS), *snippet, fits=True)
        if "scores" in result:
            _show_stages(result["scores"])


def _styled_terms(snippet: str) -> list[tuple[str, dict[str, Any]]]:
    """Return a snippet in parts: every second one is a term of the query."""
    parts = _TERMS.split(" ".join(snippet.split()))
    return [(part, _TERM if number % 2 else {}) for number, part in enumerate(parts)]


def _show_stages(scores: dict[str, float]) -> None:
    stages = [one for one in scores.items() if one[0] not in _HIDDEN_STAGES]
    output.table(["STAGE", "SCORE"], [(name, f"{value:.4f}") for name, value in stages], flexible=0)
    output.line("")
