"""`memoryctl expand-query`, `auto-tag`, `detect-contradiction`: by a model, or by a rule."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, open_session


@click.command("expand-query", cls=Verb, example='memoryctl expand-query "database migration"')
@click.argument("query", metavar="QUERY")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="At most so many.",
)
@shared_options
def expand_query(asked: Asked, query: str, limit: int) -> None:
    """Find further search terms for a query."""
    with open_session(asked) as session:
        request = {"query": query, "maxTerms": limit}
        answer = session.call(session.project, "expandQuery", request)
    if asked.as_json:
        output.answer(answer)
        return
    for term in answer["expandedTerms"]:
        output.line(term)
    _tell_method(answer)


@click.command("auto-tag", cls=Verb, example="memoryctl auto-tag release-train --dry-run")
@click.argument("entry_id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Only say which tags would be added.")
@shared_options
def auto_tag(asked: Asked, entry_id: str, dry_run: bool) -> None:
    """Add tags to a memory that fit its text, beside those that it has."""
    with open_session(asked) as session:
        request = {"id": entry_id, "apply": not dry_run}
        answer = session.call(session.project_of(entry_id), "autoTag", request)
    if asked.as_json:
        output.answer(answer)
        return
    for tag in answer["newTags"]:
        output.line(tag)
    if not answer["newTags"]:
        output.note("no further tags")
    _tell_method(answer)


@click.command(
    "detect-contradiction", cls=Verb, example="memoryctl detect-contradiction port-old port-new"
)
@click.argument("one", metavar="ID")
@click.argument("other", metavar="OTHER")
@shared_options
def detect_contradiction(asked: Asked, one: str, other: str) -> None:
    """Say whether two memories contradict each other; nothing is changed."""
    with open_session(asked) as session:
        request = {"idA": one, "idB": other}
        answer = session.call(session.project_of(one), "detectContradiction", request)
    if asked.as_json:
        output.answer(answer)
        return
    why = f": {answer['why']}" if answer["why"] else ""
    output.line(f"they contradict each other{why}" if answer["contradicts"] else "both may be true")
    _tell_method(answer)


@click.command(cls=Verb, example="memoryctl capabilities")
@shared_options
def capabilities(asked: Asked) -> None:
    """Say which models serve, and which toolsets the project allows."""
    with open_session(asked) as session:
        answer = session.call(session.project, "capabilities", {})
    if asked.as_json:
        output.answer(answer)
        return
    embedder = answer["embedder"]
    output.line(f"version     {answer['version']}")
    output.line(f"embedder    {embedder['model'] if embedder else 'none yet'}")
    output.line(f"reranker    {answer['reranker'] or 'none'}")
    output.line(f"llm         {answer['llm'] or 'none'}")
    output.line(f"summarizer  {answer['summarizer']}")
    output.line(f"toolsets    {', '.join(answer['toolsets'])}")


def _tell_method(answer: dict[str, str | None]) -> None:
    by = "a language model" if answer["method"] == "llm" else f"a rule ({answer['reason']})"
    output.note(f"found by {by}")
