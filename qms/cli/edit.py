"""`memoryctl edit`: edit one memory in the user's editor."""

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
from qms.cli.remember import show_stored
from qms.cli.target import Asked, open_session
from qms.disk.disk import Disk
from qms.memory.entry import split_id
from qms.memory.errors import InvalidInputError, QmsError, UnavailableError, invalid

EDITOR_VARIABLES = ("VISUAL", "EDITOR")

_USUAL_EDITORS = ("notepad",) if os.name == "nt" else ("sensible-editor", "nano", "vi")


@click.command(cls=Verb, example="EDITOR=nano memoryctl edit default:release-train")
@click.argument("entry_id", metavar="ID")
@shared_options
def edit(asked: Asked, entry_id: str) -> None:
    """Open a memory in $VISUAL or $EDITOR and store the result.

    A concurrent change is never overwritten. If your text cannot be stored, it is kept in a file
    whose path is printed.
    """
    editor = _editor()
    # No lock is held while the editor is open: others may write, a server may start.
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
    """A temporary file with one entry as JSON, while the editor is open."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.id: str = entry["id"]
        self._folder = Path(tempfile.mkdtemp(prefix="memoryctl-"))
        self._path = self._folder / f"{split_id(self.id)[1]}.json"
        self._before = output.json_text(entry).encode() + b"\n"
        Disk().write_new(self._path, [self._before], sync=False, mode=0o600)

    def edit(self, editor: list[str]) -> bool:
        """Open the editor, wait for it, and return whether the text has changed.

        Raises:
            UnavailableError: the editor cannot be started, or it failed.
        """
        command = [*editor, str(self._path)]
        try:
            with _interrupts_left_to_the_editor():
                status = subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own editor
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
        """Return the entry in the file.

        Raises:
            InvalidInputError: it is not a JSON object, or its id was changed.
        """
        entry = read_json(self._path.read_bytes().removeprefix(b"\xef\xbb\xbf"), "entry")
        if not isinstance(entry, dict):
            raise invalid("entry", "must be a JSON object")
        if entry.setdefault("id", self.id) != self.id:
            raise invalid("id", f"must stay {self.id}: an edit cannot rename a memory")
        return entry

    def kept(self, error: QmsError) -> QmsError:
        """Add the path of the file to an error if the text was changed; else remove the file."""
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
    """Ignore Ctrl-C here, so that it reaches only the editor and no text is lost."""
    # A handler instead of SIG_IGN, which the editor would inherit.
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
    missing = UnavailableError("no editor found")
    missing.add_note("set EDITOR to your editor")
    raise missing


def _split(command: str, variable: str) -> list[str]:
    try:
        if os.name == "nt":
            # Backslashes separate folders there; only the quotes around a word are removed.
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError as error:
        raise invalid(variable, f"cannot be parsed: {error}") from None
