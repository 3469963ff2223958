"""`memoryctl open`: open the admin page in the browser, signed in by a fresh one-time link."""

import os
import sys
import webbrowser
from urllib.parse import urlsplit

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.remote import reachable
from qms.cli.target import Asked, checked_root, open_session, running_url
from qms.config.addresses import is_loopback
from qms.memory.errors import UnavailableError

_DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


@click.command("open", cls=Verb, example="memoryctl open")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@shared_options
def open_page(asked: Asked, no_browser: bool) -> None:
    """Open the admin page in the browser, signed in by a link that works once.

    The link works within five minutes, on the server's own machine.
    """
    url = asked.server_url or running_url(checked_root(asked))
    if url is None:
        stopped = UnavailableError("no server is running on this root")
        stopped.add_note("start it with `qms serve`")
        raise stopped
    page = reachable(url).rstrip("/") + "/"
    link = {"url": page, "expiresUtc": None}
    if is_loopback(urlsplit(page).hostname or ""):
        with open_session(asked) as session:
            made = session.administer("createSignInLink")
        link = {"url": f"{page}#setup={made['setup']}", "expiresUtc": made["expiresUtc"]}
    else:
        output.note("sign in with your key: links work on the server's own machine only")
    if asked.as_json:
        output.answer(link)
    else:
        output.line(str(link["url"]))
    if not no_browser and not asked.as_json and _has_display():
        webbrowser.open(str(link["url"]))


def _has_display() -> bool:
    """Return whether a browser has a place to open; a browser of the terminal is not meant."""
    return sys.platform in ("win32", "darwin") or any(map(os.environ.get, _DISPLAYS))
