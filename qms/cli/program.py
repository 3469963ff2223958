"""The program `memoryctl`: runs one command line to its exit code."""

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TextIO

import click
from click.shell_completion import shell_complete

from qms.cli import interrupt, output
from qms.cli.arguments import COMPLETE_VARIABLE, PROGRAM, refused_option, verb_first
from qms.cli.lazy_group import LazyGroup
from qms.cli.verbs import GROUPS
from qms.memory.errors import InvalidInputError, QmsError
from qms.version import __version__

DEBUG_VARIABLE = "QMS_DEBUG"

_UNEXPECTED = 1


@click.group(cls=LazyGroup, groups=GROUPS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name=PROGRAM)
def program() -> None:
    """Manage memories and stores, on a running server or on the files of a stopped one.

    Options may come anywhere on the line. Each command prints on standard error what it works on:
    the server given with --url, else the server that owns the root, else the files of the root. The
    beginning of an id stands for the id, if it is unique.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    if instruction := os.environ.get(COMPLETE_VARIABLE):
        return shell_complete(program, {}, PROGRAM, COMPLETE_VARIABLE, instruction)
    try:
        interrupt.raise_in_command()
        return _invoke(arguments)
    except QmsError as error:
        return _report(error, arguments)
    except (KeyboardInterrupt, click.Abort):
        output.note(interrupt.LINE)
        return interrupt.EXIT_CODE
    except BrokenPipeError:
        _silence(sys.stdout)
        return _UNEXPECTED
    except Exception as error:  # the request boundary of the command line: exit code 1
        if os.environ.get(DEBUG_VARIABLE):
            raise
        unexpected = QmsError(f"unexpected error: {type(error).__name__}: {error}")
        unexpected.add_note(f"set {DEBUG_VARIABLE}=1 to see the traceback")
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
    """Redirect a stream whose reader has closed it, so that the last flush does not fail."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
