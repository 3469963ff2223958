"""`memoryctl completion` and `man`: what shells and `man` want to know, from the commands."""

from collections.abc import Iterator

import click

from qms.cli import output
from qms.cli.arguments import PROGRAM, Verb, leaves
from qms.domain.errors import QmsError
from qms.version import __version__

Words = dict[str, list[str]]
"""What can follow each command, nouns included."""

_BASH = """\
_memoryctl() {{
    local at={program} word options=""
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$at $word" in
            {known}) at="$at $word" ;;
        esac
    done
    case "$at" in
{cases}
    esac
    COMPREPLY=($(compgen -W "$options" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _memoryctl {program}"""

_ZSH = """\
#compdef {program}
_memoryctl() {{
    local at={program} word options=""
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$at $word" in
            {known}) at="$at $word" ;;
        esac
    done
    case "$at" in
{cases}
    esac
    compadd -- ${{=options}} || _files
}}
compdef _memoryctl {program}"""

_FISH = """\
function __memoryctl_at
    set -l at {program}
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case {known}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
{cases}"""

_POWERSHELL = """\
Register-ArgumentCompleter -Native -CommandName {program} -ScriptBlock {{
    param($word, $ast, $cursor)
    $options = @{{
{cases}
    }}
    $at = '{program}'
    foreach ($element in $ast.CommandElements | Select-Object -Skip 1) {{
        if ($options.ContainsKey("$at $element")) {{ $at = "$at $element" }}
    }}
    $options[$at] | Where-Object {{ $_ -like "$word*" }} | ForEach-Object {{
        [System.Management.Automation.CompletionResult]::new($_)
    }}
}}"""


@click.command(cls=Verb, example="memoryctl completion bash")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def completion(shell: str) -> None:
    """Print what makes a shell complete the words of memoryctl; for its startup file."""
    root = click.get_current_context().find_root().command
    assert isinstance(root, click.Group)
    output.text(script(shell, dict(following(root))))


@click.command(cls=Verb, example="memoryctl man")
def man() -> None:
    """Print the manual page, for `man -l` or a folder of manual pages."""
    context = click.get_current_context().find_root()
    assert isinstance(context.command, click.Group)
    output.text("\n".join(manual(context.command, context)))


def following(group: click.Group, path: str = PROGRAM) -> Iterator[tuple[str, list[str]]]:
    """Yield what can follow every command."""
    yield path, [*group.commands, "--help"]
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from following(command, f"{path} {name}")
        else:
            yield f"{path} {name}", [*_choices(command), *_options(command), "--help"]


def script(shell: str, words: Words) -> str:
    """Return the completion of a shell."""
    inner = [path for path in words if path != PROGRAM]
    match shell:
        case "fish":
            known = " ".join(f"'{path}'" for path in inner)
            lines = [
                f"complete -c {PROGRAM} -n '__memoryctl_at \"{path}\"' -a '{' '.join(options)}'"
                for path, options in words.items()
            ]
            return _FISH.format(program=PROGRAM, known=known, cases="\n".join(lines))
        case "powershell":
            quoted = {path: [f"'{one}'" for one in options] for path, options in words.items()}
            lines = [f"        '{path}' = {', '.join(options)}" for path, options in quoted.items()]
            return _POWERSHELL.format(program=PROGRAM, cases="\n".join(lines))
        case _:
            known = "|".join(f'"{path}"' for path in inner)
            lines = [
                f'        "{path}") options="{" ".join(options)}" ;;'
                for path, options in words.items()
            ]
            template = _BASH if shell == "bash" else _ZSH
            return template.format(program=PROGRAM, known=known, cases="\n".join(lines))


def manual(program: click.Group, context: click.Context) -> Iterator[str]:
    """Yield the lines of the manual page."""
    yield f'.TH {PROGRAM.upper()} 1 "" "Quick Memory Server {__version__}"'
    yield from (".SH NAME", rf"{PROGRAM} \- look after memories and stores")
    yield from (".SH SYNOPSIS", rf".B {PROGRAM}", r"\fICOMMAND\fR [\fIOPTIONS\fR]")
    yield from (".SH DESCRIPTION", *_paragraphs(program.help or ""))
    yield ".SH COMMANDS"
    for path, command in leaves(program):
        yield from _section(path, command, context)
    yield ".SH EXIT STATUS"
    codes = {error.exit_code: error.code for error in reversed(QmsError.__subclasses__())}
    for number, meaning in sorted({0: "success", **codes, 1: "unexpected"}.items()):
        yield from (".TP", str(number), _roff(meaning))


def _section(path: str, command: click.Command, context: click.Context) -> Iterator[str]:
    inner = click.Context(command, info_name=path.split(" ", 1)[1], parent=context)
    yield f".SS {_roff(' '.join([path, *command.collect_usage_pieces(inner)]))}"
    yield from _paragraphs(command.help or "")
    for parameter in command.params:
        record = parameter.get_help_record(inner)
        if record is not None:
            yield from (".TP", rf"\fB{_roff(record[0])}\fR", _roff(record[1]))
    if isinstance(command, Verb):
        yield from (".PP", "Example:", ".EX", _roff(command.example), ".EE")


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ".PP"
        yield _roff(" ".join(paragraph.split()))


def _roff(text: str) -> str:
    """Return text that stands in a manual page as it is."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _choices(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and isinstance(parameter.type, click.Choice):
            yield from parameter.type.choices


def _options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (*parameter.opts, *parameter.secondary_opts)
