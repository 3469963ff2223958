"""`qms`: runs the server, and MCP over standard input and output."""

import os
from contextlib import closing
from typing import TYPE_CHECKING

import click

from qms.app.quick_imports import quick_imports
from qms.cli import interrupt
from qms.cli.failures import reporting
from qms.cli.first_start import StartLines
from qms.cli.identity import named_agent
from qms.cli.service import service
from qms.config.root import find_root
from qms.version import __version__

if TYPE_CHECKING:
    from qms.app.stdio_server import Wanted

# Each command imports what it needs: so a bridge starts ten times as fast as a server.

KEY_VARIABLE = "QMS_KEY"

_ROOT_HELP = "Folder of the configuration and the stores [QMS_ROOT]."
_TOOLSETS_HELP = "Toolsets to use instead of the project's default."


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="qms")
def main() -> None:
    """Quick Memory Server: one memory for all your AI agents."""


@main.command()
@click.option("--root", metavar="DIR", help=_ROOT_HELP)
@click.option("--host", metavar="H", help="Listen on this address instead of the configured one.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    help="Listen on this port instead of the configured one; 0 picks a free port.",
)
def serve(root: str | None, host: str | None, port: int | None) -> None:
    """Serve until SIGTERM or Ctrl+C, on http://127.0.0.1:5080 unless configured otherwise.

    Example: qms serve --root ~/memory --port 0
    """
    with quick_imports():
        from qms.app.console import serve as serve_console

    with reporting(), closing(StartLines()) as echo:
        serve_console(find_root(root), host=host, port=port, echo=echo)


@main.command()
@click.option("--root", metavar="DIR", help=_ROOT_HELP)
@click.option("--project", metavar="P", default="default", show_default=True, help="The project.")
@click.option("--toolsets", metavar="A,B", help=_TOOLSETS_HELP)
def mcp(root: str | None, project: str, toolsets: str | None) -> None:
    """Serve one project to an MCP client over stdio.

    It runs until the client closes standard input. If a server owns the root, the client is
    connected to that server; else this process opens the root itself. With a key in QMS_KEY the
    client is that user, else `local`, who may write. QMS_AGENT_ID names the author of what it
    writes; the default is the client's own name.

    Example: qms mcp --root ~/memory --project projA
    """
    from qms.app.stdio import serve_root

    with reporting():
        serve_root(find_root(root), _wanted(project, toolsets))


@main.command()
@click.option("--url", metavar="URL", help="The server [QMS_URL, else http://127.0.0.1:5080].")
@click.option("--project", metavar="P", default="default", show_default=True, help="The project.")
@click.option("--toolsets", metavar="A,B", help=_TOOLSETS_HELP)
def bridge(url: str | None, project: str, toolsets: str | None) -> None:
    """Connect an MCP client over stdio to a running server.

    It runs until the client closes standard input, and reconnects after a restart of the server.
    The key is read from QMS_KEY. QMS_AGENT_ID names the author of what is written; the default is
    the client's own name.

    Example: QMS_KEY=qms_… qms bridge --url http://127.0.0.1:5080 --project projA
    """
    from qms.app.stdio import bridge as run_bridge

    chosen = url or os.environ.get("QMS_URL") or "http://127.0.0.1:5080"
    with reporting():
        run_bridge(chosen, _wanted(project, toolsets))


@main.command()
@click.option("--root", metavar="DIR", help="New root [the default root with -demo appended].")
def demo(root: str | None) -> None:
    """Create a root with sample memories: a month of work in three projects.

    Agents and people stored, changed, disputed and deleted them; there are backups and a problem.
    Existing data is not changed: a folder that is already a root is refused.

    Example: qms demo --root ~/memory-demo
    """
    from qms.cli.demo import seed

    default = find_root(None)
    place = find_root(root) if root else default.with_name(f"{default.name}-demo")
    with reporting():
        made = seed(place)
    _echo(f"entries: {made.entries}")
    _echo(f"admin key: {made.admin_key}")
    _echo(f"start it: qms serve --root {place}")


main.add_command(service)


def _wanted(project: str, toolsets: str | None) -> "Wanted":
    from qms.app.stdio_server import Wanted

    key = os.environ.get(KEY_VARIABLE) or None
    return Wanted(project=project, toolsets=toolsets, key=key, agent_id=named_agent())


def _echo(line: str) -> None:
    # Flushed: the parent process waits for this line on a pipe.
    print(line, flush=True)


def start() -> None:
    """Run one command line and exit; Ctrl-C during imports ends the process at once."""
    interrupt.end_at_once()
    main()


if __name__ == "__main__":
    start()
