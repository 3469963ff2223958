"""Write the help of every `memoryctl` verb into docs/memoryctl.md, as the program prints it.

Run it after changing an option or a help text; tests/house fails while the page and the program
disagree. It fills the blocks that begin with `$ memoryctl … --help`.
"""

import re
from pathlib import Path

import click

from qms.cli.arguments import PROGRAM, leaves
from qms.cli.program import program

PAGE = Path(__file__).resolve().parent.parent / "docs" / "memoryctl.md"
COLUMNS = 100

_BLOCK = re.compile(
    r"^```text\n\$ (?P<path>memoryctl[a-z -]*) --help\n.*?^```$", re.MULTILINE | re.DOTALL
)


def help_of(path: str) -> str:
    """Return the help of a verb, or of a noun, on a terminal of fixed width."""
    context = click.Context(
        program,
        info_name=PROGRAM,
        terminal_width=COLUMNS,
        max_content_width=COLUMNS,
        **program.context_settings,
    )
    command: click.Command = program
    for word in path.split()[1:]:
        assert isinstance(command, click.Group)
        command = command.commands[word]
        context = click.Context(command, info_name=word, parent=context)
    return command.get_help(context)


def documented(page: str) -> list[str]:
    """Return the verbs and nouns that the page has a block for, in its order."""
    return [block["path"] for block in _BLOCK.finditer(page)]


def fill(page: str) -> str:
    """Return the page with every block as the program prints it."""
    return _BLOCK.sub(
        lambda block: f"```text\n$ {block['path']} --help\n{help_of(block['path'])}\n```", page
    )


def wanted() -> list[str]:
    """Return the verbs and nouns that the page must have a block for."""
    return [PROGRAM, *(path for path, _ in leaves(program))]


def main() -> None:
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
