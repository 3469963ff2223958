"""The command line: options that every verb takes, verbs in any place, and near misses named."""

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

import click

from qms.cli.target import Asked
from qms.codec.lines import read_strictly
from qms.domain.errors import InvalidInputError, invalid
from qms.domain.limits import DEFAULT_LIMITS

PROGRAM = "memoryctl"

_HELP = ("-h", "--help")


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
    """Give a verb the options that all of them take; it gets them as one `Asked` value."""

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
        asked = Asked(verb=verb, url=url, key=key, root=root, project=project, as_json=as_json)
        function(asked, *args, **kwargs)

    options = (
        click.option("--url", metavar="URL", help="Work on this server [QMS_URL]."),
        click.option("--key", metavar="KEY", help="The key for the server; safer in [QMS_KEY]."),
        click.option("--root", metavar="DIR", help="Work on this root [QMS_ROOT]."),
        click.option("--project", metavar="SLUG", help="Which project; else guessed."),
        click.option("--json", "as_json", is_flag=True, help="Print what the API answers."),
    )
    for option in reversed(options):
        run = option(run)
    return run


def verb_first(argv: Sequence[str], program: click.Group) -> list[str]:
    """Return the arguments with the verb before all options, wherever it stood.

    Raises:
        UsageError: there is no verb, or what stands in its place is none.
    """
    takes_value = dict(_options(program))
    command: click.Command = program
    verbs: list[str] = []
    options: list[str] = []
    rest = list(argv)
    while isinstance(command, click.Group) and rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            command = _subcommand(command, word, verbs)
            verbs.append(word)
            continue
        name, equals, _ = word.partition("=")
        if name not in takes_value:
            raise _refused("option", name, takes_value, " ".join([PROGRAM, *verbs]))
        options.append(word)
        if takes_value[name] and not equals and rest:
            options.append(rest.pop(0))
    if isinstance(command, click.Group):
        return [*verbs, _without_verb(command, verbs, options)]
    return [*verbs, *options, *rest]


def refused_option(error: click.NoSuchOption) -> click.UsageError:
    """Return the refusal of an option that the verb does not have, with the nearest that it has."""
    names: list[str] = []
    path = PROGRAM
    if error.ctx is not None:
        path = error.ctx.command_path
        names = [name for option in error.ctx.command.get_params(error.ctx) for name in option.opts]
    return _refused("option", error.option_name, names, path)


def read_text(given: str, field: str) -> str:
    """Return the text of an argument; `-` stands for standard input.

    Raises:
        InvalidInputError: it is empty, or not UTF-8.
    """
    if given == "-":
        given = _standard_input(field).removeprefix("\ufeff")
    if not given.strip():
        raise invalid(field, "is empty")
    return given.rstrip("\r\n")


def read_object(given: str, field: str) -> dict[str, Any]:
    """Return the JSON object of an argument; `-` stands for standard input.

    Raises:
        InvalidInputError: it is not one.
    """
    value = read_json(read_text(given, field).encode("utf-8", "surrogatepass"), field)
    if not isinstance(value, dict):
        raise invalid(field, "must be a JSON object")
    return value


def read_json(data: bytes, field: str) -> Any:
    """Return the JSON value of a text that a person wrote.

    Raises:
        InvalidInputError: it is none; the message names the field.
    """
    try:
        return read_strictly(data, DEFAULT_LIMITS)
    except InvalidInputError as error:
        details = {**error.details, "field": field}
        raise InvalidInputError(f"{field}: {error.message}", **details) from None


def read_pairs(given: Iterable[str], field: str) -> dict[str, Any]:
    """Return `KEY=VALUE` arguments as an object; a value that is JSON is taken as such.

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
    """Yield every verb with the words that call it."""
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


def _options(program: click.Group) -> Iterator[tuple[str, bool]]:
    """Yield every option of every verb, and whether a value follows it."""
    for name in (*_HELP, "--version"):
        yield name, False
    for _, command in leaves(program):
        for option in command.params:
            if isinstance(option, click.Option):
                for name in (*option.opts, *option.secondary_opts):
                    yield name, not option.is_flag


def _subcommand(group: click.Group, word: str, verbs: list[str]) -> click.Command:
    if (found := group.commands.get(word)) is None:
        raise _refused("command", word, group.commands, " ".join([PROGRAM, *verbs]))
    return found


def _without_verb(group: click.Group, verbs: list[str], options: list[str]) -> str:
    if "--version" in options and not verbs:
        return "--version"
    if any(name in options for name in _HELP):
        return "--help"
    path = " ".join([PROGRAM, *verbs])
    error = click.UsageError(f"{path} needs one of {', '.join(group.commands)}")
    error.add_note(f"`{path} --help` says what they do")
    raise error


def _refused(what: str, given: str, known: Iterable[str], path: str) -> click.UsageError:
    error = click.UsageError(f"{path} has no {what} {given!r}")
    near = difflib.get_close_matches(given, list(known), n=1)
    error.add_note(f"did you mean {near[0]}?" if near else f"see `{path} --help`")
    return error
