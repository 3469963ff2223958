"""`qms`: the server, and its ways over standard input and output."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from qms.cli.identity import named_agent
from qms.cli.reporting import reporting
from qms.cli.service import service
from qms.runtime.root import find_root
from qms.version import __version__

if TYPE_CHECKING:
    from qms.host.stdio.home import Wanted

# What a command needs is imported by that command: a bridge starts ten times as fast as a server.

KEY_VARIABLE = "QMS_KEY"

_ROOT_HELP = "Where configuration and stores are [QMS_ROOT]."
_TOOLSETS_HELP = "Ask for these toolsets instead of the project's default ones."


@contextmanager
def _keeping_all() -> Iterator[None]:
    """Look for no garbage in what is made to stay: that would cost a fifth of a start."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


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
    help="Listen on this port instead of the configured one; 0 takes a free one.",
)
def serve(root: str | None, host: str | None, port: int | None) -> None:
    """Serve until SIGTERM or Ctrl+C, on http://127.0.0.1:5080 unless configured otherwise.

    Example: qms serve --root ~/memory --port 0
    """
    with _keeping_all():
        from qms.host.console import serve as serve_console

    with reporting():
        serve_console(find_root(root), host=host, port=port, echo=_echo)


@main.command()
@click.option("--root", metavar="DIR", help=_ROOT_HELP)
@click.option("--project", metavar="P", default="default", show_default=True, help="The project.")
@click.option("--toolsets", metavar="A,B", help=_TOOLSETS_HELP)
def mcp(root: str | None, project: str, toolsets: str | None) -> None:
    """Serve one project to the MCP client that started this program.

    It speaks MCP on standard input and output until the client closes its end. When a server owns
    the root, the client is connected to that one; else this process owns the root meanwhile. With
    a key in QMS_KEY the client is that user, else `local`, who may write. QMS_AGENT_ID names the
    author of what it writes; else the client's own name does.

    Example: qms mcp --root ~/memory --project projA
    """
    from qms.host.stdio.running import serve_root

    with reporting():
        serve_root(find_root(root), _wanted(project, toolsets))


@main.command()
@click.option("--url", metavar="URL", help="The server [QMS_URL, else http://127.0.0.1:5080].")
@click.option("--project", metavar="P", default="default", show_default=True, help="The project.")
@click.option("--toolsets", metavar="A,B", help=_TOOLSETS_HELP)
def bridge(url: str | None, project: str, toolsets: str | None) -> None:
    """Connect the MCP client that started this program to a running server.

    It speaks MCP on standard input and output until the client closes its end, and goes on when the
    server starts anew. The key is taken from QMS_KEY, the author of what is written from
    QMS_AGENT_ID; else the client's own name is it.

    Example: QMS_KEY=qms_… qms bridge --url http://127.0.0.1:5080 --project projA
    """
    from qms.host.stdio.running import bridge as run_bridge

    chosen = url or os.environ.get("QMS_URL") or "http://127.0.0.1:5080"
    with reporting():
        run_bridge(chosen, _wanted(project, toolsets))


@main.command()
@click.option("--root", metavar="DIR", help="The new root [beside the usual one, with -demo].")
def demo(root: str | None) -> None:
    """Make a root with a few hundred invented memories in three projects, to look around in.

    Nothing that is there is touched: a folder that is a root already is refused.

    Example: qms demo --root ~/memory-demo
    """
    from qms.cli.demo import seed

    usual = find_root(None)
    place = find_root(root) if root else usual.with_name(f"{usual.name}-demo")
    with reporting():
        made = seed(place)
    _echo(f"entries: {made.entries}")
    _echo(f"admin key: {made.admin_key}")
    _echo(f"look around: qms serve --root {place}")


main.add_command(service)


def _wanted(project: str, toolsets: str | None) -> "Wanted":
    from qms.host.stdio.home import Wanted

    key = os.environ.get(KEY_VARIABLE) or None
    return Wanted(project=project, toolsets=toolsets, key=key, agent_id=named_agent())


def _echo(line: str) -> None:
    # At once, since whoever started the server waits for this line on a pipe.
    print(line, flush=True)


if __name__ == "__main__":
    main()
