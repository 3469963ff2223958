"""Items that a run could not store: counts them, lists them up to a limit, and fails at the end."""

import click
import msgspec

from qms.cli import output
from qms.memory.errors import InvalidInputError

SHOWN_PROBLEMS = 20
MAX_PROBLEMS = 1000
"""The number of problems that are listed; the rest is only counted."""


class SkippedItems(msgspec.Struct, kw_only=True, rename="camel"):
    """The problems in the report of a run."""

    problem_count: int = 0
    problems: list[str] = msgspec.field(default_factory=list)

    def complain(self, problem: str) -> None:
        """Add a problem: what was not stored, and why."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def end(self) -> None:
        """Print the first problems and exit with code 2, if there are any."""
        for problem in self.problems[:SHOWN_PROBLEMS]:
            output.warning(problem)
        if self.problem_count > SHOWN_PROBLEMS:
            output.warning(f"and {self.problem_count - SHOWN_PROBLEMS:,} more; --json lists them")
        if self.problems:
            raise click.exceptions.Exit(InvalidInputError.exit_code)
