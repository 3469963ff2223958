"""`memoryctl shell`: an interactive shell with short commands."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output, shell_view
from qms.cli.arguments import PROGRAM, Verb, shared_options
from qms.cli.line_input import LineInput
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import InvalidInputError, QmsError, invalid

LIST_SIZE = 20
RESULTS = 10

_ENDS = frozenset({"quit", "exit", "q"})
_YES = "--yes"


class ShellCommand(msgspec.Struct, frozen=True):
    """One command of the shell: its names, its argument and its help."""

    names: tuple[str, ...]
    argument: str
    help: str
    run: Callable[["Shell", str], None]


class Shell:
    """One session on a server or on files, with the ids shown so far for completion."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.typed = LineInput(self.complete, _history_file())
        self.project = session.project
        self._seen: dict[str, None] = {}
        self.failed: int = 0

    def call(self, command: str, **request: Any) -> Any:
        """Run one command in the project of the shell."""
        return self.session.call(self.project, command, request)

    def show(self, answer: Any, view: Callable[[], None]) -> None:
        """Print an answer as text, or as JSON with --json."""
        if self.session.asked.as_json:
            output.answer(answer)
        else:
            view()

    def show_entry(self, entry: dict[str, Any], **beside: Any) -> None:
        """Print a memory, and offer its id for completion from now on."""
        self._seen[entry["id"].partition(":")[2]] = None
        shell_view.show_entry(entry, **beside)

    def show_memory(self, memory: dict[str, Any]) -> None:
        """Print a recalled memory, and offer its id for completion from now on."""
        self._seen[memory["id"].partition(":")[2]] = None
        shell_view.show_memory(memory)

    def run(self, line: str) -> bool:
        """Run one line; False ends the shell."""
        word, _, rest = line.strip().partition(" ")
        if word in _ENDS:
            return False
        try:
            if word:
                _find(word).run(self, rest.strip())
        except QmsError as error:
            self.failed = self.failed or error.exit_code
            output.failure(error)
        return True

    def complete(self, line: str, word: str) -> list[str]:
        """Return the completions of the last word of a line."""
        command, space, _ = line.lstrip().partition(" ")
        if not space:
            known = [*_BY_NAME, *sorted(_ENDS)]
        elif command in ("get", "delete", "del", "rm"):
            known = list(self._seen)
        elif command in ("list", "ls"):
            known = self._namespaces()
        else:
            known = self.session.backend.projects() if command == "use" else []
        return [name for name in known if name.startswith(word)]

    def _namespaces(self) -> list[str]:
        try:
            found = self.call("namespaces")["namespaces"]
        except QmsError:
            return []
        return [one["namespace"] for one in found if one["namespace"]]


@click.command(cls=Verb, example="memoryctl shell --project default")
@shared_options
def shell(asked: Asked) -> None:
    """Open an interactive shell: recall, search, list, get, stats, delete; try help.

    On files, the shell locks the root until it ends.
    """
    with open_session(asked) as session:
        opened = Shell(session)
        if output.is_interactive():
            output.note("type help for commands, quit to exit")
        try:
            for line in opened.typed.lines(lambda: f"{PROGRAM}:{opened.project}> "):
                if not opened.run(line):
                    break
        finally:
            opened.typed.close()
    if opened.failed and not output.is_interactive():
        raise click.exceptions.Exit(opened.failed)


def _recall(shell: Shell, context: str) -> None:
    context = _needed(context, "context")
    found = shell.call("recall", query=context, limit=RESULTS, include="snippet")

    def view() -> None:
        for one in found["memories"]:
            shell.show_memory(one)
        if not found["memories"]:
            output.note("nothing found")

    shell.show(found, view)


def _search(shell: Shell, words: str) -> None:
    query = {"text": _needed(words, "words"), "maxResults": RESULTS, "match": "all"}
    _show_found(shell, shell.call("searchEntries", query=query, include="full"))


def _show_found(shell: Shell, found: dict[str, Any]) -> None:
    def view() -> None:
        for one in found["results"]:
            shell.show_entry(one["entry"], snippet=one["snippet"], score=one["score"])
        if not found["results"]:
            output.note("nothing found")

    shell.show(found, view)


def _list(shell: Shell, namespace: str) -> None:
    wanted = {"namespace": namespace} if namespace else {}
    found = shell.call("listEntries", filter=wanted, include="full", page={"size": LIST_SIZE})

    def view() -> None:
        for entry in found["items"]:
            shell.show_entry(entry)
        if found["nextCursor"]:
            output.note(f"{LIST_SIZE} shown, more available")
        elif not found["items"]:
            output.note("nothing found")

    shell.show(found, view)


def _get(shell: Shell, entry_id: str) -> None:
    output.answer(shell.call("getEntry", id=_needed(entry_id, "id")))


def _stats(shell: Shell, _rest: str) -> None:
    stats = shell.call("stats")
    shell.show(stats, lambda: shell_view.show_stats(stats))


def _namespaces(shell: Shell, _rest: str) -> None:
    found = shell.call("namespaces")
    shell.show(found, lambda: shell_view.show_namespaces(found["namespaces"]))


def _delete(shell: Shell, rest: str) -> None:
    words = [word for word in rest.split() if word != _YES]
    entry_id = _needed(" ".join(words), "id")
    entry = shell.call("getEntry", id=entry_id)["entry"]
    if _YES not in rest.split() and not shell.typed.confirm(f"Delete {entry['title']!r}?"):
        output.note("nothing was deleted")
        return
    answer = shell.call("deleteEntry", id=entry_id)
    shell.show(answer, lambda: output.note("deleted; it is in the archive"))


def _use(shell: Shell, project: str) -> None:
    known = shell.session.backend.projects()
    found = [slug for slug in known if slug.casefold() == project.casefold()]
    if not found:
        raise invalid("project", f"must be one of {', '.join(known)}")
    shell.project = found[0]


def _help(_shell: Shell, _rest: str) -> None:
    rows = [(" ".join((", ".join(one.names), one.argument)).strip(), one.help) for one in _COMMANDS]
    output.table(
        ["COMMAND", "DESCRIPTION"], [*rows, ("quit, exit, q", "Exit the shell")], flexible=1
    )


def _needed(given: str, field: str) -> str:
    if not given:
        raise invalid(field, "is missing")
    return given


_COMMANDS = (
    ShellCommand(
        ("recall", "r"), "CONTEXT", "Find memories for a context and count them as used", _recall
    ),
    ShellCommand(("search", "s"), "WORDS", "Find memories that contain every word", _search),
    ShellCommand(("list", "ls"), "[NAMESPACE]", "List the last updated memories", _list),
    ShellCommand(("get",), "ID", "Show one memory as JSON", _get),
    ShellCommand(("stats",), "", "Count the memories of the project", _stats),
    ShellCommand(("namespaces", "ns"), "", "List the namespaces with their counts", _namespaces),
    ShellCommand(("delete", "del", "rm"), f"ID [{_YES}]", "Move a memory to the archive", _delete),
    ShellCommand(("use",), "PROJECT", "Switch to another project", _use),
    ShellCommand(("help", "h"), "", "Show this list", _help),
)
_BY_NAME = {name: command for command in _COMMANDS for name in command.names}


def _find(word: str) -> ShellCommand:
    if (found := _BY_NAME.get(word)) is None:
        error = InvalidInputError(f"the shell has no command {word[:32]!r}", field="command")
        error.add_note("type help for a list of commands")
        raise error
    return found


def _history_file() -> Path:
    import platformdirs  # imported here: few commands need it

    return platformdirs.user_state_path("QuickMemoryServer", appauthor=False) / "shell_history"
