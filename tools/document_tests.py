"""Write the test files of each id into docs/faults.md and docs/security.md.

Run it after adding or moving a test with a `fault` or `attack` marker; tests/house fails while the
pages and the markers disagree.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"fault": ROOT / "docs" / "faults.md", "attack": ROOT / "docs" / "security.md"}
NO_TEST = "to come"
_ROW = re.compile(r"\| (?P<id>F?\d+) \|.*\| (?P<tests>[^|]*) \|")


def id_of(row: str) -> str | None:
    """Return the id of a table row, or None for any other line."""
    found = _ROW.fullmatch(row)
    return found["id"] if found else None


def files_by_id(marker: str, folder: Path = ROOT / "tests") -> dict[str, list[str]]:
    """Return the test files with `marker`, by the id of the marker."""
    files: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted(folder.rglob("test_*.py")):
        for identity in _marked_ids(ast.parse(path.read_bytes()), marker):
            files[identity].add(path.relative_to(folder.parent).as_posix())
    return {identity: sorted(paths) for identity, paths in files.items()}


def fill(page: str, tests: dict[str, list[str]]) -> str:
    """Return the page with the test files of each id in the last column of its row."""
    return "\n".join(_fill_row(row, tests) for row in page.split("\n"))


def main() -> None:
    for marker, path in PAGES.items():
        page = path.read_text(encoding="utf-8")
        path.write_text(fill(page, files_by_id(marker)), encoding="utf-8")


def _marked_ids(tree: ast.Module, marker: str) -> list[str]:
    return [
        str(node.args[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == f"pytest.mark.{marker}"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    ]


def _fill_row(row: str, tests: dict[str, list[str]]) -> str:
    found = _ROW.fullmatch(row)
    if not found:
        return row
    names = ", ".join(f"`{name}`" for name in tests.get(found["id"], [])) or NO_TEST
    return f"{row[: found.start('tests')]}{names} |"


if __name__ == "__main__":
    main()
