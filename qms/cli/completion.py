"""`memoryctl completion` and `man`: shell completion and the manual page, made by click."""

from collections.abc import Iterator

import click
from click.shell_completion import get_completion_class

from qms.cli import output
from qms.cli.arguments import COMPLETE_VARIABLE, PROGRAM, Verb, leaves
from qms.memory.errors import QmsError
from qms.version import __version__

_COLUMNS = 78


@click.command(cls=Verb, example="memoryctl completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell, for its startup file."""
    made_for = get_completion_class(shell)
    assert made_for is not None
    root = click.get_current_context().find_root().command
    output.text(made_for(root, {}, PROGRAM, COMPLETE_VARIABLE).source().rstrip("\n"))


@click.command(cls=Verb, example="memoryctl man")
def man() -> None:
    """Print the manual page, for `man -l` or a man directory."""
    context = click.get_current_context().find_root()
    assert isinstance(context.command, click.Group)
    output.text("\n".join(manual(context.command, context)))


def manual(program: click.Group, context: click.Context) -> Iterator[str]:
    """Yield the lines of the manual page: the help of the program and of every verb."""
    yield f'.TH {PROGRAM.upper()} 1 "" "Quick Memory Server {__version__}"'
    yield from (".SH NAME", rf"{PROGRAM} \- manage memories and stores")
    yield from (".SH DESCRIPTION", *_help_of(program, PROGRAM, None))
    yield ".SH COMMANDS"
    for path, command in leaves(program):
        yield from (f".SS {_roff(path)}", *_help_of(command, path.partition(" ")[2], context))
    yield ".SH EXIT STATUS"
    codes = {error.exit_code: error.code for error in reversed(QmsError.__subclasses__())}
    for number, meaning in sorted({0: "success", **codes, 1: "unexpected"}.items()):
        yield from (".TP", str(number), _roff(meaning))


def _help_of(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    inner = click.Context(command, info_name=name, parent=parent, terminal_width=_COLUMNS)
    yield from (".EX", *map(_roff, command.get_help(inner).splitlines()), ".EE")


def _roff(text: str) -> str:
    """Escape text for a manual page."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped
