"""`memoryctl expand-query`, `auto-tag`, `detect-contradiction`: by language model or by rule."""

from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb
from qms.cli.calls import argument, calls


@click.command("expand-query", cls=Verb, example='memoryctl expand-query "database migration"')
@click.argument("query", metavar="QUERY")
@click.option(
    "--limit",
    "maxTerms",
    metavar="N",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="Maximum number of terms.",
)
@calls("expandQuery")
def expand_query(answer: dict[str, Any]) -> None:
    """Suggest more search terms for a query."""
    for term in answer["expandedTerms"]:
        output.line(term)
    _tell_method(answer)


@click.command("auto-tag", cls=Verb, example="memoryctl auto-tag release-train --dry-run")
@click.argument("id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Show which tags would be added.")
@calls(
    "autoTag",
    asks=lambda given: {"id": given["id"], "apply": not given["dry_run"]},
    of_entry="id",
)
def auto_tag(answer: dict[str, Any]) -> None:
    """Add tags that fit the text of a memory; its own tags stay."""
    for tag in answer["newTags"]:
        output.line(tag)
    if not answer["newTags"]:
        output.note("no new tags")
    _tell_method(answer)


@click.command(
    "detect-contradiction", cls=Verb, example="memoryctl detect-contradiction port-old port-new"
)
@argument("idA", metavar="ID")
@argument("idB", metavar="OTHER")
@calls("detectContradiction", of_entry="idA")
def detect_contradiction(answer: dict[str, Any]) -> None:
    """Check whether two memories contradict each other; nothing is changed."""
    why = f": {answer['why']}" if answer["why"] else ""
    output.line(f"they contradict each other{why}" if answer["contradicts"] else "both may be true")
    _tell_method(answer)


@click.command(cls=Verb, example="memoryctl capabilities")
@calls("capabilities")
def capabilities(answer: dict[str, Any]) -> None:
    """Show the models in use and the toolsets that the project allows."""
    embedder = answer["embedder"]
    output.line(f"version     {answer['version']}")
    output.line(f"embedder    {embedder['model'] if embedder else 'none yet'}")
    output.line(f"reranker    {answer['reranker'] or 'none'}")
    output.line(f"llm         {answer['llm'] or 'none'}")
    output.line(f"summarizer  {answer['summarizer']}")
    output.line(f"toolsets    {', '.join(answer['toolsets'])}")


def _tell_method(answer: dict[str, Any]) -> None:
    by = "a language model" if answer["method"] == "llm" else f"a rule ({answer['reason']})"
    output.note(f"found by {by}")
