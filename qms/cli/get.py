"""`memoryctl get`: show one memory, as text or JSON."""

from collections.abc import Mapping
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, Session, open_session
from qms.memory.bodies import LIST_FIELDS, MAIN_FIELDS, Kind

_LABEL_COLUMNS = 12
FLAGS = {
    "instructionLike": "the text reads like an instruction to an agent",
    "hiddenUnicode": "the text contains invisible characters",
    "secret": "the text seems to contain a secret",
}


@click.command(cls=Verb, example="memoryctl get default:release-train")
@click.option("--summary", is_flag=True, help="Show only a summary.")
@click.option("--links", is_flag=True, help="Show only its relations, in both directions.")
@click.argument("entry_id", metavar="ID")
@shared_options
def get(asked: Asked, entry_id: str, summary: bool, links: bool) -> None:
    """Show one memory, by its id."""
    command: str = "getLinks" if links else "getEntry"
    request: dict[str, Any] = {"id": entry_id}
    if summary:
        command, request = "summaries", {"ids": [entry_id]}
    with open_session(asked) as session:
        found = session.call(session.project_of(entry_id), command, request)
    if asked.as_json:
        output.answer(found)
    elif summary:
        output.text(found["summaries"][0]["summary"])
    elif links:
        _show_links(found["links"])
    else:
        show(found["entry"], found["version"])
    for flag in found.get("flags", ()):
        output.warning(FLAGS.get(flag, flag))


def find(session: Session, entry_id: str) -> dict[str, Any]:
    """Return the answer of `getEntry` for a memory.

    Raises:
        NotFoundError: there is no memory with that id.
    """
    found: dict[str, Any] = session.call(session.project_of(entry_id), "getEntry", {"id": entry_id})
    return found


def show(entry: Mapping[str, Any], version: str | None = None) -> None:
    """Print one memory as text."""
    rest = {name: value for name, value in entry.items() if name not in ("id", "title", "body")}
    times = rest.pop("timestamps", {})
    output.line(entry["id"])
    _field("title", entry.get("title", ""))
    for name, value in {**rest, **times, "version": version}.items():
        if value is not None and name not in ("schemaVersion", "project"):
            _field(name, value)
    _show_body(entry.get("kind", ""), entry.get("body", {}))


def _show_links(links: list[dict[str, Any]]) -> None:
    if not links:
        output.note("no relations")
        return
    rows = [(one["sourceId"], one["type"], one["targetId"], one.get("title", "")) for one in links]
    output.table(("FROM", "TYPE", "TO", "TITLE"), rows, flexible=3)


def _show_body(kind: str, body: Any) -> None:
    main = MAIN_FIELDS.get(Kind(kind), ()) if kind in frozenset(Kind) else ()
    others = dict(body) if isinstance(body, dict) else {"body": body}
    text = next((others.pop(name) for name in main if others.get(name)), "")
    for name, value in others.items():
        _field(f"body.{name}", value)
    if isinstance(text, list) and set(main) <= LIST_FIELDS:
        text = "\n".join(f"- {item}" for item in text)
    output.line("")
    output.text(str(text))


def _field(name: str, value: Any) -> None:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    shown = value if isinstance(value, str) else output.json_line(value)
    output.line(f"{name:<{_LABEL_COLUMNS}} {shown}")
