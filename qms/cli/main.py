"""Entry point of `memoryctl`: handles Ctrl-C, then loads and runs the program."""

import sys
from collections.abc import Sequence
from typing import NoReturn

from qms.cli import interrupt


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run one command line and exit."""
    interrupt.end_at_once()
    from qms.cli.program import run  # after the handler is set: it loads most of the package

    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal cannot show is escaped, not an error.
        if (reconfigure := getattr(stream, "reconfigure", None)) is not None:
            reconfigure(errors="backslashreplace")
    code = run(arguments)
    interrupt.end_at_once()
    sys.exit(code)


if __name__ == "__main__":
    main()
