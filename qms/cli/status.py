"""`memoryctl status`: show the health of a server or a root."""

import time
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, open_session
from qms.cli.vectors import missing_line
from qms.cli.wire import LOADING, UNHEALTHY
from qms.memory.errors import UnavailableError

PAUSE_S = 0.2


@click.command(cls=Verb, example="memoryctl status --wait")
@click.option("--wait", is_flag=True, help="Wait until every store is loaded.")
@shared_options
def status(asked: Asked, wait: bool) -> None:
    """Show the health of the server or root; exit code 6 if it is unhealthy."""
    with open_session(asked) as session:
        session.backend.load()
        found = session.call(session.project, "health", {})
        while wait and found["status"] == LOADING:
            time.sleep(PAUSE_S)
            found = session.call(session.project, "health", {})
    if asked.as_json:
        output.answer(found)
    else:
        _show(found)
    if found["status"] == UNHEALTHY:
        raise click.exceptions.Exit(UnavailableError.exit_code)


def _show(found: dict[str, Any]) -> None:
    embedder = (found["embedder"] or {}).get("model", "not loaded yet")
    output.line(f"{found['status']}, version {found['version']}, embedder {embedder}")
    rows = [
        (one["name"], f"{one['entries']:,}" if one["loaded"] else "", _state(one))
        for one in found["stores"]
    ]
    output.table(("PROJECT", "ENTRIES", "STATE"), rows, flexible=2)
    for one in found["stores"]:
        if missing := missing_line(one.get("vectors")):
            output.line(f"{one['name']}: {missing}")
    for one in found["problems"]:
        where = one.get("project") or one.get("file") or ""
        output.warning(f"{where}{': ' if where else ''}{one.get('reason') or one['code']}")


def _state(store: dict[str, Any]) -> str:
    if not store["loaded"]:
        return "not loaded"
    if store["readOnly"]:
        return f"read-only: {store['readOnlyReason']}"
    counts = {name: store[name] for name in ("problems", "conflicts") if store[name]}
    parts = [f"{count:,} {name}" for name, count in counts.items()]
    return ", ".join(parts + ["deletions held"] * bool(store["held"])) or "ok"
