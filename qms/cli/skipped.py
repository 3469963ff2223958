"""Items that a run refused: counts them by reason, lists them, and fails at the end."""

import click
import msgspec

from qms.cli import output
from qms.memory.errors import InvalidInputError

SHOWN_PROBLEMS = 20
"""The number of reasons that are shown."""

MAX_PROBLEMS = 1000
"""The number of problems that are listed; the rest is only counted."""

_SHOWN_PLACES = 5


class SkippedItems(msgspec.Struct, kw_only=True, rename="camel"):
    """The problems in the report of a run."""

    problem_count: int = 0
    problems: list[str] = msgspec.field(default_factory=list)
    refused: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of refused items by reason, of at most MAX_PROBLEMS reasons."""

    def complain(self, place: str, reason: str) -> None:
        """Add a problem: where the item is that was not stored, and why."""
        self.problem_count += 1
        if reason in self.refused or len(self.refused) < MAX_PROBLEMS:
            self.refused[reason] = self.refused.get(reason, 0) + 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(f"{place}: {reason}")

    def end(self) -> None:
        """Print the reasons with the places, and exit with code 2, if there are any."""
        groups = sorted(self.refused.items(), key=lambda one: -one[1])
        for reason, count in groups[:SHOWN_PROBLEMS]:
            output.warning(f"{count:,} refused, {reason}: {self._places(reason, count)}")
        if rest := self.problem_count - sum(count for _, count in groups[:SHOWN_PROBLEMS]):
            output.warning(f"and {rest:,} more for other reasons; --json lists them")
        if self.problems:
            raise click.exceptions.Exit(InvalidInputError.exit_code)

    def _places(self, reason: str, count: int) -> str:
        ending = f": {reason}"
        listed = (one.removesuffix(ending) for one in self.problems if one.endswith(ending))
        shown = [place for place, _ in zip(listed, range(_SHOWN_PLACES), strict=False)]
        more = [f"{count - len(shown):,} more"] if count > len(shown) else []
        return ", ".join([*shown, *more])
