"""`memoryctl connect`: create a key for a client, test it, and write the client's settings."""

from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.client_hooks import failure, hooks_file, with_hooks
from qms.cli.client_json import has_comments
from qms.cli.clients import CLIENTS, TOOLSETS, Client, Server
from qms.cli.current_project import guess_project
from qms.cli.instants import now
from qms.cli.key_store import await_server, store_key
from qms.cli.keys import KeyWanted, order_key
from qms.cli.remote import Remote, reachable
from qms.cli.target import Asked, checked_root, open_session, running_url
from qms.config.configuration import key_record, new_key
from qms.config.root import CONFIGURATION_NAME
from qms.config.settings import Endpoint
from qms.config.toml_file import parse
from qms.config.toolsets import bounded_toolsets, choose_toolsets
from qms.disk.disk import Disk
from qms.memory.access import AccessTier
from qms.memory.errors import ConflictError, NotAllowedError, NotFoundError, UnavailableError

USER = "agents"
PLACEHOLDER = "qms_…"
TRIED: dict[str, Any] = {"name": "coldStart", "arguments": {"maxTokens": 100}}
"""The call that shows whether a key works."""

INSTRUCTIONS = """\
## Memory

- Before you begin a task, call `coldStart` of the server `memory`, then `recall` with what
  the task is about.
- Search again before you decide something or answer from memory.
- When the task ends, store with `remember` what is worth knowing tomorrow: decisions and their
  reasons, corrections, procedures that worked, facts that took effort to find. One thing an entry,
  no secrets.\
"""


@click.command(cls=Verb, example="memoryctl connect claude-code --project default --write")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--write", is_flag=True, help="Write to the client's file, after a backup of it.")
@click.option(
    "--hooks/--no-hooks",
    default=True,
    show_default=True,
    help="Claude Code only: load memories at the start of a session, remind to store at its end.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, without a key.")
@click.option(
    "--user",
    metavar="USER",
    default=USER,
    show_default=True,
    help="Owner of the key; created as a writer if missing.",
)
@click.option(
    "--toolsets",
    metavar="A,B",
    default=TOOLSETS,
    show_default=True,
    help="Toolsets that the client asks for; empty: those that the project gives.",
)
@shared_options
def connect(asked: Asked, client: str, **options: Any) -> None:
    """Connect a client: create and test a key, print or write its settings and instructions.

    Without --write no key is created: the settings are printed with a placeholder for it.
    """
    wanted = msgspec.convert(options, _Options)
    chosen = CLIENTS[client]
    commented = _commented(chosen, hooks=wanted.hooks) if wanted.write else []
    writes = wanted.write and not commented
    root = None if asked.server_url else checked_root(asked)
    server = _server(asked, root, wanted.toolsets)
    before = _read(chosen.file()) if writes else ""
    # Before a key is created: no key is left behind when the file cannot be changed.
    shown = chosen.written(server, before)
    hooked = _hooked(root, server.project, writes=writes) if _has_hooks(chosen, wanted) else None
    answer: dict[str, Any] = {"client": client, "path": str(chosen.file())}
    answer |= {"instructions": INSTRUCTIONS, "asks": chosen.asks}
    if wanted.write and not wanted.dry_run:
        key = _key(asked, root, wanted.user, client)
        server = msgspec.structs.replace(server, key=key)
        answer["tools"] = _try(server, must_answer=root is None or running_url(root) is not None)
        shown = chosen.written(server, before)
        if writes:
            answer["backup"] = _write(chosen.file(), before, shown)
            if hooked and "settings" in hooked:
                hooked["backup"] = _write(hooks_file(), hooked["before"], hooked["settings"])
    if hooked:
        hooked.pop("before", None)
        answer["hooks"] = hooked
    answer |= {"commented": commented} if commented else {}
    _show(asked, chosen, {**answer, "written": "backup" in answer, "settings": shown})
    if commented:
        output.warning(f"{', '.join(commented)}: not changed, a rewrite would lose its comments")
        output.hint("add what is printed above to the file by hand")
        raise click.exceptions.Exit(ConflictError.exit_code)


class _Options(msgspec.Struct, frozen=True):
    """What this verb takes beside the options of all verbs."""

    write: bool
    hooks: bool
    dry_run: bool
    user: str
    toolsets: str


def _has_hooks(client: Client, wanted: _Options) -> bool:
    return wanted.hooks and client.has_hooks


def _gives(endpoint: Endpoint, toolset: str) -> bool:
    return toolset in bounded_toolsets(endpoint, None)


def _server(asked: Asked, root: Path | None, toolsets: str) -> Server:
    """Return the server for the client, without a key.

    Raises:
        InvalidInputError: the project does not allow one of the toolsets.
    """
    url, project = _address(asked, root), _project(asked, root)
    if root is not None and toolsets:
        settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
        endpoint = settings.find_endpoint(project)
        if endpoint is not None and toolsets == TOOLSETS and not _gives(endpoint, TOOLSETS):
            output.note(f"{project} does not allow {TOOLSETS}: the client gets its default tools")
            toolsets = ""
        elif endpoint is not None:
            choose_toolsets(endpoint, toolsets.split(","))
    return Server(url=url, project=project, key=PLACEHOLDER, toolsets=toolsets)


def _commented(client: Client, *, hooks: bool) -> list[str]:
    """Return the files of a client that cannot be rewritten because they have comments."""
    files = [client.file()] if client.syntax == "json" else []
    if hooks and client.has_hooks:
        files.append(hooks_file())
    return [str(path) for path in files if has_comments(_read(path))]


def _hooked(root: Path | None, project: str, *, writes: bool) -> dict[str, Any]:
    """Return the hooks file: its path, its text and its new text; or why there are no hooks."""
    path = hooks_file()
    # For a server elsewhere the key would be on their command line.
    why = "they need a root on this computer" if root is None else None
    if root is not None and writes:
        why = failure(root, project)
    if why or root is None:
        return {"path": str(path), "failure": why}
    before = _read(path) if writes else ""
    settings = with_hooks(before, root, project)
    return {"path": str(path), "before": before, "settings": settings}


def _address(asked: Asked, root: Path | None) -> str:
    """Return the URL for clients: the one given, that of the running server, or as configured."""
    if root is None:
        assert asked.server_url is not None
        return asked.server_url
    if (url := running_url(root)) is None:
        settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
        url = settings.global_.listen[0]
    return reachable(url)


def _project(asked: Asked, root: Path | None) -> str:
    """Return the project to connect to; on a local root it is checked that it exists."""
    if root is None:
        return asked.project or guess_project(Path.cwd(), ())
    settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
    if asked.project is None:
        return guess_project(Path.cwd(), settings.endpoints)
    if settings.find_endpoint(asked.project) is None:
        raise NotFoundError(f"there is no project {asked.project!r}", project=asked.project)
    return asked.project


def _key(asked: Asked, root: Path | None, user: str, client: str) -> str:
    """Create a key that is labelled with the client."""
    if root is None:
        return _remote_key(asked, user, client)
    key = new_key()
    record = key_record(key, now(), label=client)
    settings, _ = parse((root / CONFIGURATION_NAME).read_text(encoding="utf-8"))
    store_key(root, user, None if user in settings.users else AccessTier.WRITER, record)
    output.note(f"created key {record.id} of {user}, labelled {client}")
    await_server(root, key)
    return key


def _remote_key(asked: Asked, user: str, client: str) -> str:
    """Create a key on the server of --url; return the caller's own key if it is no admin's."""
    wanted = KeyWanted(user=user, label=client, access_if_new=AccessTier.WRITER)
    with open_session(asked) as session:
        try:
            _, made = order_key(session, wanted)
        except NotAllowedError:
            if asked.server_key is None:
                raise
            output.note("your key cannot create keys: the client gets the same key")
            return asked.server_key
    output.note(f"created key {made['id']} of {user}, labelled {client}")
    return str(made["key"])


def _try(server: Server, *, must_answer: bool) -> int | None:
    """Call a tool like the client would and return the number of tools; None without a server.

    Raises:
        QmsError: the server is running and a call fails.
    """
    if not must_answer:
        output.warning("connection not tested: no server is running; start it with `qms serve`")
        return None
    remote = Remote(server.url, server.key)
    try:
        speak = partial(remote.speak, server.project, toolsets=server.toolsets)
        offered = speak("tools/list", {})["tools"]
        is_offered = any(tool["name"] == TRIED["name"] for tool in offered)
        if is_offered and speak("tools/call", TRIED).get("isError"):
            raise UnavailableError(f"{server.endpoint} lists tools, but a tool call fails")
    finally:
        remote.close()
    output.note(f"{server.endpoint} works: {len(offered)} tools")
    return len(offered)


def _read(path: Path) -> str:
    try:
        # As bytes: the line endings of the file stay.
        return path.read_bytes().decode("utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UnavailableError(f"{path} cannot be read: {error}") from error


def _write(path: Path, before: str, after: str) -> str | None:
    """Write the client's file, which contains a key, and return the path of its backup."""
    target = path.resolve()  # a symbolic link stays one
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
        if file:
            _show_file(file, is_written=answer["written"])
    if answer["written"]:
        output.note(f"restart {client.title} to load the file")
    if client.asks:
        output.note(f"{client.title}: {client.asks}")
    output.note(f"add this to {client.instructions}, so that the agent recalls and stores:")
    output.text(f"\n{INSTRUCTIONS}")


def _show_file(file: dict[str, Any], *, is_written: bool) -> None:
    if "failure" in file:
        output.warning(f"no hooks in {file['path']}: {file['failure']}")
    elif is_written:
        output.line(file["path"])
        if file["backup"]:
            output.note(f"backup of the old file: {file['backup']}")
    else:
        output.note(f"add this to {file['path']}; --write does it, and creates the key:")
        output.text(file["settings"].rstrip("\n"))
