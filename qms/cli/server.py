"""`qms`: start the server."""

import sys

import click

from qms.domain.errors import QmsError
from qms.host.console import serve as serve_console
from qms.runtime.root import find_root
from qms.version import __version__


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="qms")
def main() -> None:
    """Quick Memory Server: one memory for all your AI agents."""


@main.command()
@click.option("--root", metavar="DIR", help="Where configuration and stores are [QMS_ROOT].")
@click.option("--host", metavar="H", help="Listen on this address instead of the configured one.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="Listen on this port instead of the configured one; 0 takes a free one.",
)
def serve(root: str | None, host: str | None, port: int | None) -> None:
    """Serve until SIGTERM or Ctrl+C, on http://127.0.0.1:5080 unless configured otherwise.

    Example: qms serve --root ~/memory --port 0
    """
    try:
        serve_console(find_root(root), host=host, port=port, echo=_echo)
    except QmsError as error:
        click.echo(f"error: {error.message}", err=True)
        sys.exit(error.exit_code)


def _echo(line: str) -> None:
    # At once, since whoever started the server waits for this line on a pipe.
    print(line, flush=True)


if __name__ == "__main__":
    main()
