"""What memoryctl imports: the verb that is called and a client of the server, never the server."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from qms.app.table import ADMIN_TABLE, TABLE
from qms.cli import routes, wire
from qms.cli.arguments import PROGRAM, leaves
from qms.cli.get import FLAGS
from qms.cli.program import program
from qms.cli.verbs import VERBS
from qms.config.configuration import FIRST_ADMIN
from qms.features.backups.plan import PRE_RESTORE
from qms.features.health.health import Status
from qms.features.links.links import RELATED
from qms.features.proposals.proposals_file import ProposalKind
from qms.features.recall.recall import MAX_LIMIT
from qms.search.outcome import Mode
from qms.search.profiles import ProfileName
from qms.text.flags import Flag
from tests.cli.conftest import Terminal

MAX_MODULES = 80

SERVER = ("app", "bridge", "commands", "dropins", "http", "index", "mcp", "search", "store")
"""The packages that a call of a server needs none of."""

OWN_WORK = {
    "export": {"transfer"},
    "import": {"sync", "transfer"},
    "mine": {"mining"},
    "sync": {"sync"},
    "doctor": {"health"},
    "support-bundle": {"health"},
}
"""Verbs that do work of a feature themselves, on files of this machine, and that feature."""

_COUNT = """
import json, sys
from qms.cli.main import main
try:
    main(sys.argv[1:])
finally:
    names = [name for name in sys.modules if name.split(".")[0] == "qms"]
    print("\\n" + json.dumps(names), file=sys.stderr)
"""

CALLS = (
    "get default:a",
    "list",
    "search text",
    "recall text",
    "remember text",
    "update default:a --title t",
    "delete default:gone --yes",
    "promote default:a",
    "link default:a default:b",
    "history default:a",
    "archive list",
    "proposals list",
    "gc --yes",
    "stats",
    "backup",
    "backups list",
    "status",
    "stores verify",
    "projects list",
    "users list",
    "keys list",
    "permissions list",
    "audit tail",
    "config show",
    "logs",
    "capabilities",
    "export",
    "hook session-start",
    "hook stop",
)
"""Calls of a running server, with an answer each."""


def imported(*words: str) -> list[str]:
    """Return the modules of ours that a command line has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", _COUNT, *words],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        timeout=60,
    )
    names: list[str] = json.loads(done.stderr.splitlines()[-1])
    return names


def foreign(names: list[str], verb: str) -> Iterator[str]:
    """Yield the modules that are no part of a client."""
    for name in names:
        match name.split("."):
            case [_, package, *_] if package in SERVER:
                yield name
            case [_, "features", feature, *_] if feature not in OWN_WORK.get(verb, ()):
                yield name


@pytest.mark.parametrize("path", ["", *(path.partition(" ")[2] for path, _ in leaves(program))])
def test_a_verb_imports_its_own_module_and_no_server(path: str) -> None:
    names = imported(*path.split(), "--help")

    assert len(names) <= MAX_MODULES
    assert list(foreign(names, path.partition(" ")[0])) == []


def test_a_call_of_a_server_imports_no_server(server: Terminal) -> None:
    server.remember("a", "--id", "a")
    server.remember("b", "--id", "b")

    found = {call: imported(*call.split()) for call in CALLS}

    assert {call: len(names) for call, names in found.items() if len(names) > MAX_MODULES} == {}
    assert {
        call: alien
        for call, names in found.items()
        if (alien := list(foreign(names, call.partition(" ")[0])))
    } == {}


def test_a_call_on_files_is_seen_to_import_the_server(files: Terminal) -> None:
    names = imported("list")

    assert "qms.app.build" in foreign(names, "list")
    assert len(names) > MAX_MODULES


def test_options_of_every_verb_may_stand_before_it_without_more_imports(server: Terminal) -> None:
    words = ("--json", "--root", str(server.root), "list")

    assert len(imported(*words)) == len(imported("list"))


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_has_the_name_of_its_line_in_the_table(name: str) -> None:
    command = program.commands[name]

    assert command.name == name
    assert VERBS[name][1].endswith(".")


def test_the_help_of_the_program_lists_every_verb() -> None:
    context = click.Context(program, info_name=PROGRAM)

    assert [name for name in VERBS if f"\n  {name} " not in program.get_help(context)] == []


def test_the_help_of_the_program_is_in_groups_that_fit_80_columns() -> None:
    lines = program.get_help(click.Context(program, info_name=PROGRAM, terminal_width=80))

    headings = [line for line in lines.split("\n") if line and not line.startswith(" ")]
    assert headings[2:] == ["Memories:", "Projects and people:", "Care:", "Server:"]
    for name, (_, line) in VERBS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", lines, re.MULTILINE), name
    assert max(map(len, lines.split("\n"))) <= 80


def test_the_routes_are_those_of_the_server() -> None:
    administration = {
        row.name: (row.route.method, row.route.path) for row in ADMIN_TABLE if row.route
    }
    maintained = {row.name: row.care_route.path for row in TABLE if row.care}

    assert routes.ADMINISTRATION.items() <= administration.items()
    assert {name: routes.MAINTENANCE + name for name in routes.MAINTAINS}.items() <= (
        maintained.items()
    )


def test_every_command_with_a_route_of_its_own_that_a_verb_sends_is_listed() -> None:
    folder = Path(routes.__file__).parent
    sources = "".join(
        path.read_text(encoding="utf-8") for path in folder.glob("*.py") if path.stem != "routes"
    )
    sent = {row.name for row in (*ADMIN_TABLE, *TABLE) if f'"{row.name}"' in sources}
    elsewhere = {row.name for row in ADMIN_TABLE} | {row.name for row in TABLE if row.care}

    assert (sent & elsewhere) - routes.ADMINISTRATION.keys() - routes.MAINTAINS == set()


def test_the_values_of_requests_and_answers_are_those_of_the_server() -> None:
    assert list(ProfileName) == list(wire.PROFILES)
    assert list(ProposalKind) == list(wire.PROPOSALS)
    assert FLAGS.keys() == set(Flag)
    assert (Mode.KEYWORD, Mode.KEYWORD_HASH) == (wire.KEYWORD, wire.KEYWORD_HASH)
    assert (Status.LOADING, Status.UNHEALTHY) == (wire.LOADING, wire.UNHEALTHY)
    assert (MAX_LIMIT, RELATED) == (wire.MAX_RECALLED, wire.RELATED)
    assert (PRE_RESTORE, FIRST_ADMIN) == (wire.PRE_RESTORE, wire.FIRST_ADMIN)
