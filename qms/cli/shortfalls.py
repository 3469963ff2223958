"""What a long run could not store: counted, listed up to a limit, and a failure at the end."""

import click
import msgspec

from qms.cli import output
from qms.domain.errors import InvalidInputError

SHOWN_PROBLEMS = 20
MAX_PROBLEMS = 1000
"""So many are kept to be listed; the rest is counted."""


class Shortfalls(msgspec.Struct, kw_only=True, rename="camel"):
    """The part of a report that says what went wrong."""

    problem_count: int = 0
    problems: list[str] = msgspec.field(default_factory=list)

    def complain(self, problem: str) -> None:
        """Note what was not stored, and why."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def end(self) -> None:
        """Print the first problems and end the command with their exit code, if there are any."""
        for problem in self.problems[:SHOWN_PROBLEMS]:
            output.warning(problem)
        if self.problem_count > SHOWN_PROBLEMS:
            output.warning(f"and {self.problem_count - SHOWN_PROBLEMS:,} more; --json lists them")
        if self.problems:
            raise click.exceptions.Exit(InvalidInputError.exit_code)
