"""Every row of ai-memory's tables of tools and commands has a test that is named after it."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

TOOLS = (
    *("memory_store", "memory_recall", "memory_search", "memory_list", "memory_delete"),
    *("memory_promote", "memory_forget", "memory_stats", "memory_update", "memory_get"),
    *("memory_link", "memory_get_links", "memory_consolidate", "memory_capabilities"),
    *("memory_expand_query", "memory_auto_tag", "memory_detect_contradiction"),
    *("memory_archive_list", "memory_archive_restore", "memory_archive_purge"),
    "memory_archive_stats",
)
COMMANDS = (
    *("store", "update", "recall", "search", "get", "list", "delete", "promote", "forget"),
    *("link", "consolidate", "resolve", "mcp", "serve", "shell", "sync", "auto-consolidate"),
    *("gc", "stats", "namespaces", "export", "import", "completions", "man", "mine"),
    *("archive list", "archive restore", "archive purge", "archive stats"),
)


def names_in(path: str) -> set[str]:
    """Return the names of the tests in a file."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    functions = (one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))
    return {name for name in functions if name.startswith("test_")}


def is_tested(row: str, rows: tuple[str, ...], tests: set[str]) -> bool:
    """Say whether a test begins with the name of a row, and not with that of a longer one."""
    words = {one: "test_" + one.replace("-", "_").replace(" ", "_") for one in rows}
    longer = [other for other in words.values() if other.startswith(f"{words[row]}_")]
    return any(
        f"{test}_".startswith(f"{words[row]}_")
        and not any(f"{test}_".startswith(f"{other}_") for other in longer)
        for test in tests
    )


@pytest.mark.parametrize(
    ("row", "rows", "path"),
    [
        *((row, TOOLS, "dropins/test_ai_memory.py") for row in TOOLS),
        *((row, COMMANDS, "cli/test_ai_memory_commands.py") for row in COMMANDS),
    ],
)
def test_a_row_has_a_test_of_its_name(row: str, rows: tuple[str, ...], path: str) -> None:
    assert is_tested(row, rows, names_in(path)), f"{path} has no test of {row}"


def test_a_row_without_a_test_is_noticed() -> None:
    assert not is_tested("get", ("get", "get links"), {"test_get_links_of_all", "test_getting"})
    assert is_tested("get", ("get", "get links"), {"test_get_shows_it"})
