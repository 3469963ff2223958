"""`memoryctl`: look after memories and stores, on a running server or on the files."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

import click

from qms.cli import (
    archive,
    assisting,
    audit,
    backups,
    bundling,
    completing,
    connecting,
    consolidating,
    doctor,
    editing,
    exporting,
    hooking,
    importing,
    keys,
    lifespan,
    linking,
    listing,
    logging_out,
    mining,
    moving,
    output,
    permissions,
    project_verbs,
    proposals,
    reading,
    rebuilding,
    searching,
    setting_up,
    shell,
    stores,
    syncing,
    undoing,
    users,
    verifying,
    writing,
)
from qms.cli.arguments import PROGRAM, refused_option, verb_first
from qms.domain.errors import InvalidInputError, QmsError
from qms.version import __version__

DEBUG_VARIABLE = "QMS_DEBUG"

_INTERRUPTED = 130
_UNEXPECTED = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM)
def program() -> None:
    """Look after memories and stores, on a running server or on the files of a stopped one.

    Options stand anywhere on the line. Each verb says on standard error what it works on: the
    server of --url, else the one that owns the root, else the root's files.
    """


for _verb in (
    reading.get,
    listing.list_entries,
    searching.search,
    writing.remember,
    searching.recall,
    mining.mine,
    writing.update,
    writing.delete,
    editing.edit,
    lifespan.promote,
    linking.link,
    linking.unlink,
    consolidating.consolidate,
    consolidating.auto_consolidate,
    consolidating.contradictions,
    consolidating.resolve,
    consolidating.duplicates,
    assisting.expand_query,
    assisting.auto_tag,
    assisting.detect_contradiction,
    assisting.capabilities,
    moving.move,
    moving.copy,
    undoing.history,
    undoing.restore,
    undoing.forget,
    undoing.erase,
    archive.archive,
    proposals.proposals,
    lifespan.gc,
    lifespan.stats,
    lifespan.namespaces,
    backups.backup,
    backups.backups,
    syncing.sync_projects,
    importing.import_memories,
    exporting.export,
    connecting.connect,
    hooking.hook,
    setting_up.init,
    setting_up.status,
    doctor.doctor,
    verifying.verify_install,
    logging_out.logs,
    bundling.support_bundle,
    setting_up.config,
    stores.stores,
    project_verbs.projects,
    users.users,
    rebuilding.rebuild,
    keys.keys,
    permissions.permissions,
    audit.audit,
    shell.shell,
    completing.completion,
    completing.man,
):
    program.add_command(_verb)


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command line and exit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show is no reason to fail.
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _invoke(arguments)
    except QmsError as error:
        return _report(error, arguments)
    except (KeyboardInterrupt, click.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout)
        return _UNEXPECTED
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        unexpected = QmsError(f"something unexpected happened: {type(error).__name__}: {error}")
        unexpected.add_note(f"with {DEBUG_VARIABLE}=1 it says where")
        return _report(unexpected, arguments)


def _invoke(arguments: Sequence[str]) -> int:
    try:
        with program.make_context(PROGRAM, verb_first(arguments, program)) as context:
            program.invoke(context)
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        raise _translated(error) from error
    return 0


def _translated(error: click.ClickException) -> InvalidInputError:
    if isinstance(error, click.NoSuchOption):
        error = refused_option(error)
    message = " ".join(error.format_message().split()).rstrip(".")
    translated = InvalidInputError(message[:1].lower() + message[1:])
    for remark in getattr(error, "__notes__", ()):
        translated.add_note(remark)
    context = getattr(error, "ctx", None)
    if context is not None:
        translated.add_note(f"see `{context.command_path} --help`")
    return translated


def _report(error: QmsError, arguments: Sequence[str]) -> int:
    if "--json" in arguments:
        output.answer(error.as_object())
    output.failure(error)
    return error.exit_code


def _silence(stream: TextIO) -> None:
    """Let the interpreter flush into nothing: whoever read the stream has gone."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
