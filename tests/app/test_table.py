import pkgutil
from importlib import import_module
from pathlib import Path

import qms.dropins
import qms.features
from qms.app import aliases
from qms.app.table import ADMIN_TABLE, COMMANDS, MODULES, TABLE
from qms.commands.command import declaring_modules

ALIASES = {
    "acceptHeld": "decideHeld",
    "rejectHeld": "decideHeld",
    "backupStore": "orderBackups",
    "listVersions": "history",
    "listAllProblems": "listProblems",
    "listAllConflicts": "listConflicts",
}
"""Names that go with 1.0, written down again: one more is a decision."""


def test_every_module_that_declares_a_command_is_listed() -> None:
    for package in (qms.features, qms.dropins):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    declaring = {name for name in declaring_modules() if name.startswith("qms.")}

    assert {module.__name__ for module in MODULES} == declaring


def test_the_commands_of_projects_stand_before_those_of_the_server() -> None:
    assert (*TABLE, *(row for row in ADMIN_TABLE if row not in TABLE)) == COMMANDS


def test_aliases_are_declared_in_one_module_and_name_commands_that_are_none() -> None:
    rows = {row.name: row for row in COMMANDS}

    assert {row.name: row.alias_of for row in COMMANDS if row.alias_of is not None} == ALIASES
    assert {rows[name].alias_of for name in ALIASES.values()} == {None}
    assert {row.name for row in COMMANDS if row.handler.__module__ == aliases.__name__} == set(
        ALIASES
    )


def test_the_page_of_the_administration_names_every_alias() -> None:
    page = Path(__file__).parents[2] / "docs" / "administration.md"
    text = page.read_text(encoding="utf-8")

    told = (f"`{name}` is an alias of `{of}`" for name, of in ALIASES.items())
    assert [line for line in told if line not in text] == []
