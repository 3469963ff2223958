"""`memoryctl init`, `status` and `config`: a root is made, looked at, and checked."""

import time
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.key_file import KEY_PLACE, read_key, write_key
from qms.cli.keys import await_server, store_key
from qms.cli.local import now
from qms.cli.target import Asked, checked_root, open_session
from qms.config.toml_file import parse
from qms.domain.errors import UnavailableError, invalid
from qms.runtime.root import CONFIGURATION_NAME, find_root
from qms.service.configuration import FIRST_ADMIN, key_record, new_key
from qms.service.health import Status

KEY_LABEL = "memoryctl"
PAUSE_S = 0.2


@click.command(cls=Verb, example="memoryctl init --root ~/memory")
@shared_options
def init(asked: Asked) -> None:
    """Make a root, and a key in it that memoryctl uses by itself; again, it changes nothing."""
    if asked.url is not None:
        raise invalid("url", "a root is made on a machine's own files: leave it out")
    root = find_root(asked.root)
    is_new = not (root / CONFIGURATION_NAME).exists()
    path = root / KEY_PLACE
    if is_new or read_key(root) is None:
        path = _make(root)
    if asked.as_json:
        output.answer({"root": str(root), "created": is_new, "keyFile": str(path)})
    else:
        output.line(str(root))
    output.note(f"{'made' if is_new else 'was there already'}; memoryctl's own key is in {path}")
    output.hint(f"start the server: qms serve --root {root}")


def _make(root: Path) -> Path:
    key = new_key()
    try:
        root.mkdir(parents=True, exist_ok=True)
        store_key(root, FIRST_ADMIN, None, key_record(key, now(), label=KEY_LABEL))
        path = write_key(root, key)
    except OSError as error:
        raise UnavailableError(f"{root} cannot be used: {error.strerror or error}") from error
    await_server(root, key)
    return path


@click.command(cls=Verb, example="memoryctl status --wait")
@click.option("--wait", is_flag=True, help="Until every store is loaded.")
@shared_options
def status(asked: Asked, wait: bool) -> None:
    """Show how the server or the root is: stores, embedder, problems; exit code 6 when unwell."""
    with open_session(asked) as session:
        session.backend.load()
        found = session.call(session.project, "health", {})
        while wait and found["status"] == Status.LOADING:
            time.sleep(PAUSE_S)
            found = session.call(session.project, "health", {})
    if asked.as_json:
        output.answer(found)
    else:
        _show(found)
    if found["status"] == Status.UNHEALTHY:
        raise click.exceptions.Exit(UnavailableError.exit_code)


def _show(found: dict[str, Any]) -> None:
    embedder = (found["embedder"] or {}).get("model", "not opened yet")
    output.line(f"{found['status']}, version {found['version']}, embedder {embedder}")
    rows = [
        (one["name"], f"{one['entries']:,}" if one["loaded"] else "", _state(one))
        for one in found["stores"]
    ]
    output.table(("PROJECT", "ENTRIES", "STATE"), rows, flexible=2)
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
    return ", ".join(parts + ["deletions held"] * bool(store["held"])) or "well"


@click.group()
def config() -> None:
    """Check and show the configuration file."""


@config.command(cls=Verb, example="memoryctl config validate QuickMemoryServer.toml")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@shared_options
def validate(asked: Asked, path: Path | None) -> None:
    """Check a configuration file, that of the root unless another is named; exit code 2 if bad."""
    path = path or checked_root(asked) / CONFIGURATION_NAME
    try:
        _, warnings = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise invalid("file", f"{path} cannot be read: {error}") from error
    if asked.as_json:
        output.answer({"valid": True, "warnings": msgspec.to_builtins(warnings)})
    else:
        output.line(f"{path} is valid")
    for one in warnings:
        where = f"line {one.line}: " if one.line else ""
        output.warning(f"{where}{one.field}: {one.reason}")


@config.command("show", cls=Verb, example="memoryctl config show")
@shared_options
def show_config(asked: Asked) -> None:
    """Show the configuration in force, without its secrets."""
    with open_session(asked) as session:
        found = session.administer("getConfig")
    if asked.as_json:
        output.answer(found)
    else:
        output.text(found["text"].rstrip("\n"))
