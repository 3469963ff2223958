"""`LazyGroup`: a group of verbs that imports the module of a verb when the verb is called."""

import importlib
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import click
from click.shell_completion import CompletionItem

Declared = Mapping[str, tuple[str, str]]
"""From the name of a verb to `module.attribute` below `qms.cli`, and its line of help."""


class LazyGroup(click.Group):
    """A group whose own help needs no module of its verbs."""

    def __init__(
        self, name: str | None = None, *, groups: Mapping[str, Declared], **kwargs: Any
    ) -> None:
        self.groups = groups
        self.verbs = {verb: said for group in groups.values() for verb, said in group.items()}
        super().__init__(name, _Verbs(self.verbs), **kwargs)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - inherited
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the verbs in their groups, with the lines of help that were declared."""
        columns = max(map(len, self.verbs))
        for heading, group in self.groups.items():
            with formatter.section(heading):
                rows = [(name.ljust(columns), line) for name, (_, line) in group.items()]
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the verbs that begin like a word, or else the options."""
        found = [
            CompletionItem(name, help=line)
            for name, (_, line) in self.verbs.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


class _Verbs(MutableMapping[str, click.Command]):
    """The verbs by name; reading a value imports its module."""

    def __init__(self, declared: Declared) -> None:
        self._places = {name: place for name, (place, _) in declared.items()}
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module, _, attribute = self._places[name].rpartition(".")
            self._loaded[name] = getattr(importlib.import_module(f"qms.cli.{module}"), attribute)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places  # the inherited test would import the module

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._places.setdefault(name, "")
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._places[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
