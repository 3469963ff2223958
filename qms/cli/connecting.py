"""`memoryctl connect`: a client gets a key and its settings, and the connection is tried."""

from pathlib import Path
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.client_hooks import hooks_file, with_hooks
from qms.cli.clients import CLIENTS, Client, Server
from qms.cli.keys import KeyWanted, await_server, order_key, store_key
from qms.cli.local import now
from qms.cli.projects import guess_project
from qms.cli.remote import Remote, reachable
from qms.cli.target import Asked, checked_root, open_session, running_url
from qms.config.toml_file import parse
from qms.domain.access import AccessTier
from qms.domain.errors import NotAllowedError, NotFoundError, UnavailableError
from qms.fsio.disk import Disk
from qms.runtime.root import CONFIGURATION_NAME
from qms.service.configuration import key_record, new_key

USER = "agents"
PLACEHOLDER = "qms_…"

INSTRUCTIONS = """\
## Memory

- Before you begin a task, call `coldStart` of the server `memory`, then `searchEntries` with what
  the task is about.
- Search again before you decide something or answer from memory.
- When the task ends, store with `upsertEntry` what is worth knowing tomorrow: decisions and their
  reasons, corrections, procedures that worked, facts that took effort to find. One thing an entry,
  no secrets.\
"""


@click.command(cls=Verb, example="memoryctl connect claude-code --project default --write")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--write", is_flag=True, help="Put it into the client's file, after a copy of it.")
@click.option(
    "--hooks/--no-hooks",
    default=True,
    show_default=True,
    help="Whether Claude Code is also told what is known when it begins, and reminded to store.",
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written, without a key.")
@click.option(
    "--user",
    metavar="USER",
    default=USER,
    show_default=True,
    help="Whose key it gets; a writer when there is none of that name.",
)
@shared_options
def connect(asked: Asked, client: str, write: bool, hooks: bool, dry_run: bool, user: str) -> None:
    """Connect a client: make its key, try it, print or write its settings and what to tell it."""
    chosen = CLIENTS[client]
    path = chosen.file()
    before = _read(path) if write else ""
    root = None if asked.server_url else checked_root(asked)
    url, project = _address(asked, root), _project(asked, root)
    # Before there is a key: a file that cannot be changed is to cost nothing.
    shown = chosen.written(Server(url=url, project=project, key=PLACEHOLDER), before)
    answer: dict[str, Any] = {"client": client, "path": str(path), "instructions": INSTRUCTIONS}
    # A hook works on the root of this machine: from afar it would need the key on its line.
    hooked = _hooked(root, project, write=write) if hooks and chosen.has_hooks and root else None
    if not dry_run:
        server = Server(url=url, project=project, key=_key(asked, root, user, client))
        answer["tools"] = _try(server, must_answer=root is None or running_url(root) is not None)
        shown = chosen.written(server, before)
        if write:
            answer["backup"] = _write(path, before, shown)
            if hooked:
                hooked["backup"] = _write(hooks_file(), hooked.pop("before"), hooked["settings"])
    if hooked:
        hooked.pop("before", None)
        answer["hooks"] = hooked
    _show(asked, chosen, {**answer, "written": write and not dry_run, "settings": shown})


def _hooked(root: Path, project: str, *, write: bool) -> dict[str, Any]:
    """Return what the file of hooks is, and what it would become."""
    path = hooks_file()
    before = _read(path) if write else ""
    settings = with_hooks(before, root, project)
    return {"path": str(path), "before": before, "settings": settings}


def _address(asked: Asked, root: Path | None) -> str:
    """Return where clients find the server: the one named, the one that runs, or will."""
    if root is None:
        assert asked.server_url is not None
        return asked.server_url
    if (url := running_url(root)) is None:
        settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
        url = settings.global_.listen[0]
    return reachable(url)


def _project(asked: Asked, root: Path | None) -> str:
    """Return the project to connect to, which is there as far as that can be seen from here."""
    if root is None:
        return asked.project or guess_project(Path.cwd(), ())
    settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
    if asked.project is None:
        return guess_project(Path.cwd(), settings.endpoints)
    if settings.find_endpoint(asked.project) is None:
        raise NotFoundError(f"there is no project {asked.project!r}", project=asked.project)
    return asked.project


def _key(asked: Asked, root: Path | None, user: str, client: str) -> str:
    """Return a new key that says which client it is for."""
    if root is None:
        return _key_from_afar(asked, user, client)
    key = new_key()
    record = key_record(key, now(), label=client)
    settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
    store_key(root, user, None if user in settings.users else AccessTier.WRITER, record)
    output.note(f"key {record.id} of {user} made, labelled {client}")
    await_server(root, key)
    return key


def _key_from_afar(asked: Asked, user: str, client: str) -> str:
    """Return a new key of a server that is known by its URL; the given one if it may make none."""
    wanted = KeyWanted(user=user, label=client, access_if_new=AccessTier.WRITER)
    with open_session(asked) as session:
        try:
            _, made = order_key(session, wanted)
        except NotAllowedError:
            if asked.server_key is None:
                raise
            output.note("this key makes no others: the client gets it as it is")
            return asked.server_key
    output.note(f"key {made['id']} of {user} made, labelled {client}")
    return str(made["key"])


def _try(server: Server, *, must_answer: bool) -> int | None:
    """Call a tool as the client would, and return how many it is offered; None without a server.

    Raises:
        QmsError: a server is there, and does not serve the client.
    """
    if not must_answer:
        output.warning("no server runs: the connection was not tried; start one with `qms serve`")
        return None
    remote = Remote(server.url, server.key)
    try:
        offered = remote.speak(server.project, "tools/list", {})["tools"]
        call = {"name": "listEntries", "arguments": {"page": {"size": 1}}}
        if remote.speak(server.project, "tools/call", call).get("isError"):
            raise UnavailableError(f"{server.endpoint} offers tools, and a call of one fails")
    finally:
        remote.close()
    output.note(f"{server.endpoint} answers, with {len(offered)} tools")
    return len(offered)


def _read(path: Path) -> str:
    try:
        # Byte for byte: the ends of its lines are the person's choice.
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(f"{path} cannot be read: {error}") from error


def _write(path: Path, before: str, after: str) -> str | None:
    """Write the client's file, which now holds a key, and return where the old one is kept."""
    target = path.resolve()  # the file behind a link, which stays one
    disk, backup = Disk(), None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            backup = target.with_name(f"{target.name}.{now():%Y%m%dT%H%M%S%f}.bak")
            disk.put(backup, before.encode())
        disk.put(target, after.encode())
    except OSError as error:
        raise UnavailableError(f"{target} cannot be written: {error.strerror or error}") from error
    return str(backup) if backup else None


def _show(asked: Asked, client: Client, answer: dict[str, Any]) -> None:
    if asked.as_json:
        output.answer(answer)
        return
    for file in (answer, answer.get("hooks")):
        if file and answer["written"]:
            output.line(file["path"])
            if file["backup"]:
                output.note(f"the file as it was: {file['backup']}")
        elif file:
            output.note(f"belongs into {file['path']}, or pass --write:")
            output.text(file["settings"].rstrip("\n"))
    if answer["written"]:
        output.note(f"start {client.title} anew to have it read the file")
    output.note(
        f"for {client.instructions}, so that the agent recalls first and stores at the end:"
    )
    output.text(f"\n{INSTRUCTIONS}")
