"""Lighthouse about some pages, in the browser of somebody who is signed in."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.places import PLACES
from tests.support.house import key_of
from tests.support.server import ServerProcess
from tools.toolbox import command_of

CATEGORIES = ("accessibility", "best-practices", "performance")
LEAST_PERFORMANCE = 0.95
LIMIT_S = 240
ATTEMPTS = 3


def scores(browser: Browser, url: str, place: str, folder: Path) -> dict[str, float]:
    """Sign in, have Lighthouse look at a page as on a desk, and return its scores."""
    report, own = folder / "report.json", folder / "profile"
    arguments = ["--remote-debugging-port=0"]
    # As root, in a container, Chromium has no sandbox of its own to offer.
    arguments += ["--no-sandbox"] if os.geteuid() == 0 else []
    program = shutil.which("chromium")
    profile = browser.browser_type.launch_persistent_context(
        own, executable_path=program, args=arguments
    )
    page = profile.new_page()
    page.goto(f"{url}/")
    page.get_by_label("API key").fill(key_of("admin"))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Overview", level=1).wait_for()
    port = (own / "DevToolsActivePort").read_text(encoding="utf-8").split()[0]
    audit(f"{url}/{place}", port, report)
    profile.close()
    found: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))["categories"]
    return {name: found[name]["score"] for name in CATEGORIES}


def audit(url: str, port: str, report: Path) -> None:
    """Run Lighthouse in the browser that listens on a port."""
    command = command_of("lighthouse")
    assert command is not None
    options = [f"--port={port}", "--preset=desktop", "--disable-storage-reset", "--quiet"]
    options += ["--output=json", f"--output-path={report}"]
    options += [f"--only-categories={','.join(CATEGORIES)}"]
    run = subprocess.run(
        [*command, url, *options],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=LIMIT_S,
    )
    assert run.returncode == 0, run.stderr[-2000:]


@pytest.fixture(params=["Overview", "Documents"])
def found(
    browser: Browser, server: ServerProcess, tmp_path: Path, request: pytest.FixtureRequest
) -> dict[str, float]:
    """Return the scores of the best of a few runs: other work on the machine only lowers them."""
    best: dict[str, float] = {}
    for number in range(ATTEMPTS):
        run = scores(browser, server.url, PLACES[request.param], tmp_path / str(number))
        best = max(best or run, run, key=lambda one: one["performance"])
        if best["performance"] >= LEAST_PERFORMANCE:
            break
    return best


@pytest.mark.long
@pytest.mark.timeout(ATTEMPTS * LIMIT_S)
@pytest.mark.needs("lighthouse")
def test_lighthouse_finds_nothing_to_better_in_what_it_can_check(found: dict[str, float]) -> None:
    assert (found["accessibility"], found["best-practices"]) == (1, 1)
    assert found["performance"] >= LEAST_PERFORMANCE
