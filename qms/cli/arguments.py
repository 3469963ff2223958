"""Parses the command line: options of every verb, options before the verb, and typos."""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import click

from qms.cli.target import Asked
from qms.memory.errors import InvalidInputError, invalid
from qms.memory.limits import DEFAULT_LIMITS
from qms.memory.lines import read_strictly

PROGRAM = "memoryctl"
COMPLETE_VARIABLE = "_MEMORYCTL_COMPLETE"
"""Set by the completion script of a shell, when it asks what can follow."""

SYNONYMS: dict[tuple[str, ...], str] = {
    ("projects", "create"): "add",
    ("users", "create"): "add",
    ("config", "check"): "validate",
}
"""Other words that people type for a verb, with the noun before it."""

_HELP = ("-h", "--help")
_NO_VALUE = dict.fromkeys((*_HELP, "--version"), False)

_SHARED_OPTIONS = (
    click.option("--url", metavar="URL", help="Server to work on [QMS_URL]."),
    click.option("--key", metavar="KEY", help="API key of the server; safer in [QMS_KEY]."),
    click.option("--root", metavar="DIR", help="Root to work on [QMS_ROOT]."),
    click.option("--project", metavar="SLUG", help="Project [guessed from this folder]."),
    click.option("--json", "as_json", is_flag=True, help="Print the answer of the API."),
)


class Verb(click.Command):
    """A command whose help ends with an example."""

    def __init__(self, *args: Any, example: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(
        self,
        ctx: click.Context,  # noqa: ARG002 - inherited
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the example."""
        with formatter.section("Example"):
            formatter.write_text(self.example)


def shared_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that every verb takes; the verb gets them as one `Asked` value."""

    @wraps(function)
    def run(
        *args: Any,
        url: str | None,
        key: str | None,
        root: str | None,
        project: str | None,
        as_json: bool,
        **kwargs: Any,
    ) -> None:
        verb = click.get_current_context().command_path.removeprefix(f"{PROGRAM} ")
        asked = Asked(
            verb=verb,
            url=url,
            key=key,
            root=root,
            project=project,
            as_json=as_json,
            is_trial=bool(kwargs.get("dry_run")),
        )
        function(asked, *args, **kwargs)

    for option in reversed(_SHARED_OPTIONS):
        run = option(run)
    return run


def verb_first(argv: Sequence[str], program: click.Group) -> list[str]:
    """Return the arguments with the verb moved before all options; help if there are none.

    Raises:
        UsageError: the verb is missing or unknown.
    """
    command: click.Command = program
    verbs: list[str] = []
    options: list[str] = []
    rest = list(argv)
    while isinstance(command, click.Group) and rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            word = SYNONYMS.get((*verbs, word), word)
            command = _subcommand(command, word, verbs)
            verbs.append(word)
            continue
        name, equals, _ = word.partition("=")
        options.append(word)
        if _takes_value(name, verbs, program) and not equals and rest:
            options.append(rest.pop(0))
    if isinstance(command, click.Group):
        return [*verbs, _without_verb(command, verbs, options)]
    return [*verbs, *options, *rest]


def refused_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the error for an unknown option, with the closest known one."""
    names: list[str] = []
    path = PROGRAM
    if error.ctx is not None:
        path = error.ctx.command_path
        names = [name for option in error.ctx.command.get_params(error.ctx) for name in option.opts]
    return _refused("option", error.option_name, names, path)


def read_text(given: str, field: str) -> str:
    """Return the text of an argument; `-` reads standard input.

    Raises:
        InvalidInputError: it is empty, or not UTF-8.
    """
    if given == "-":
        given = _standard_input(field).removeprefix("\ufeff")
    if not given.strip():
        raise invalid(field, "is empty")
    return given.rstrip("\r\n")


def read_object(given: str, field: str) -> dict[str, Any]:
    """Return the JSON object of an argument; `-` reads standard input.

    Raises:
        InvalidInputError: it is no JSON object.
    """
    value = read_json(read_text(given, field).encode("utf-8", "surrogatepass"), field)
    if not isinstance(value, dict):
        raise invalid(field, "must be a JSON object")
    return value


def read_json(data: bytes, field: str) -> Any:
    """Parse JSON that a person wrote.

    Raises:
        InvalidInputError: it is not valid; the message names the field.
    """
    try:
        return read_strictly(data, DEFAULT_LIMITS)
    except InvalidInputError as error:
        details = {**error.details, "field": field}
        raise InvalidInputError(f"{field}: {error.message}", **details) from None


def read_pairs(given: Iterable[str], field: str) -> dict[str, Any]:
    """Return `KEY=VALUE` arguments as an object; a value that is valid JSON is decoded.

    Raises:
        InvalidInputError: one has no key.
    """
    pairs: dict[str, Any] = {}
    for pair in given:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise invalid(field, f"{pair[:64]!r} is not KEY=VALUE")
        try:
            pairs[key] = read_strictly(value.encode("utf-8", "surrogatepass"), DEFAULT_LIMITS)
        except InvalidInputError:
            pairs[key] = value
    return pairs


def leaves(group: click.Group, path: str = PROGRAM) -> Iterator[tuple[str, click.Command]]:
    """Yield every verb with its full command path."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def _standard_input(field: str) -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(field, f"standard input is not UTF-8 at byte {error.start}") from None


def _ignore(_asked: Asked) -> None:
    """Do nothing; the options around it are read."""


def _takes_value(name: str, verbs: list[str], program: click.Group) -> bool:
    """Return whether a value follows an option that stands before its verb."""
    known = _NO_VALUE | _values_of(click.command(shared_options(_ignore)).params)
    if name not in known:
        # An option of a verb that is not known yet: all of them are imported.
        for _, command in leaves(program):
            known |= _values_of(command.params)
    if name not in known:
        raise _refused("option", name, known, " ".join([PROGRAM, *verbs]))
    return known[name]


def _values_of(parameters: Iterable[click.Parameter]) -> dict[str, bool]:
    """Return the options among parameters, and whether a value follows each."""
    return {
        name: not option.is_flag
        for option in parameters
        if isinstance(option, click.Option)
        for name in (*option.opts, *option.secondary_opts)
    }


def _subcommand(group: click.Group, word: str, verbs: list[str]) -> click.Command:
    if (found := group.commands.get(word)) is None:
        raise _refused("command", word, group.commands, " ".join([PROGRAM, *verbs]))
    return found


def _without_verb(group: click.Group, verbs: list[str], options: list[str]) -> str:
    if "--version" in options and not verbs:
        return "--version"
    if any(name in options for name in _HELP) or not (verbs or options):
        return "--help"
    path = " ".join([PROGRAM, *verbs])
    error = click.UsageError(f"{path} needs one of {', '.join(group.commands)}")
    error.add_note(f"see `{path} --help`")
    raise error


def _refused(what: str, given: str, known: Iterable[str], path: str) -> click.UsageError:
    error = click.UsageError(f"{path} has no {what} {given!r}")
    near = difflib.get_close_matches(given, list(known), n=1)
    error.add_note(f"did you mean {near[0]}?" if near else f"see `{path} --help`")
    return error
