"""`memoryctl edit`: one memory in a person's own editor."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, read_json, shared_options
from qms.cli.target import Asked, open_session
from qms.cli.writing import show_stored
from qms.domain.entry import split_id
from qms.domain.errors import InvalidInputError, QmsError, UnavailableError, invalid
from qms.fsio.disk import Disk

EDITOR_VARIABLES = ("VISUAL", "EDITOR")

_USUAL_EDITORS = ("notepad",) if os.name == "nt" else ("sensible-editor", "nano", "vi")


@click.command(cls=Verb, example="EDITOR=nano memoryctl edit default:release-train")
@click.argument("entry_id", metavar="ID")
@shared_options
def edit(asked: Asked, entry_id: str) -> None:
    """Open a memory in $VISUAL or $EDITOR and store what you make of it.

    A change made meanwhile by somebody else is never overwritten. When your text cannot be stored
    it is kept in a file, and you are told where.
    """
    editor = _editor()
    # Nothing is held while the editor is open: others may work, a server may start.
    with open_session(asked) as session:
        found = session.call(session.project_of(entry_id), "getEntry", {"id": entry_id})
    draft = _Draft(found["entry"])
    while draft.edit(editor):
        try:
            request = {"entry": draft.read(), "ifVersion": found["version"]}
            with open_session(asked) as session:
                stored = session.call(session.project_of(draft.id), "upsertEntry", request)
        except InvalidInputError as error:
            if output.is_interactive():
                output.failure(error)
                if output.ask("Edit it again?"):
                    continue
            raise draft.kept(error) from error
        except QmsError as error:
            raise draft.kept(error) from error
        draft.remove()
        show_stored(stored, as_json=asked.as_json)
        return
    draft.remove()
    output.note("nothing was changed")


class _Draft:
    """A file with one entry as JSON, for as long as a person works on it."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.id: str = entry["id"]
        self._folder = Path(tempfile.mkdtemp(prefix="memoryctl-"))
        self._path = self._folder / f"{split_id(self.id)[1]}.json"
        self._before = output.json_text(entry).encode() + b"\n"
        Disk().write_new(self._path, [self._before], sync=False, mode=0o600)

    def edit(self, editor: list[str]) -> bool:
        """Open the editor, wait for it, and say whether the text is another one now.

        Raises:
            UnavailableError: the editor cannot be started, or it failed.
        """
        command = [*editor, str(self._path)]
        try:
            with _interrupts_left_to_the_editor():
                status = subprocess.run(command, check=False).returncode  # noqa: S603 - their own
        except OSError as error:
            raise self.kept(
                UnavailableError(f"the editor {command[0]} cannot be started: {error.strerror}")
            ) from error
        if status != 0:
            raise self.kept(
                UnavailableError(f"the editor ended with status {status}: nothing was changed")
            )
        return self._path.read_bytes() != self._before

    def read(self) -> dict[str, Any]:
        """Return the entry that the text is.

        Raises:
            InvalidInputError: it is no JSON object, or one with another id.
        """
        entry = read_json(self._path.read_bytes().removeprefix(b"\xef\xbb\xbf"), "entry")
        if not isinstance(entry, dict):
            raise invalid("entry", "must be a JSON object")
        if entry.setdefault("id", self.id) != self.id:
            raise invalid("id", f"must stay {self.id}: an edit cannot rename a memory")
        return entry

    def kept(self, error: QmsError) -> QmsError:
        """Return the error with the place where the text is kept, if there is any worth it."""
        if self._path.exists() and self._path.read_bytes() != self._before:
            error.add_note(f"your text is kept in {self._path}")
        else:
            self.remove()
        return error

    def remove(self) -> None:
        """Remove the file."""
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _interrupts_left_to_the_editor() -> Iterator[None]:
    """Let Ctrl-C mean what it means in the editor, and not the end of the person's work."""
    # A handler, and not SIG_IGN, which the editor would inherit.
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _editor() -> list[str]:
    for variable in EDITOR_VARIABLES:
        if chosen := os.environ.get(variable, "").strip():
            return _split(chosen, variable)
    for name in _USUAL_EDITORS:
        if found := shutil.which(name):
            return [found]
    missing = UnavailableError("there is no editor")
    missing.add_note("set EDITOR to the one that you use")
    raise missing


def _split(command: str, variable: str) -> list[str]:
    try:
        if os.name == "nt":
            # Backslashes part folders there; only the quotes around a word go.
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError as error:
        raise invalid(variable, f"cannot be taken apart: {error}") from None
