"""Write the tables of commands, kinds and errors into the usage pages.

Run it after changing one of them; tests/house fails while the page and the code disagree. It fills
the parts between a comment that names the part and a comment that ends it.
The tools for clients of other servers have their own page, docs/drop-in.md.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from qms.app.table import TABLE
from qms.commands.command import Command
from qms.config.settings import DROP_IN_TOOLSETS
from qms.memory.bodies import BODY_TYPES, MAIN_FIELDS
from qms.memory.errors import QmsError

_DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = (_DOCS / "agent-usage.md", _DOCS / "drop-in.md", _DOCS / "administration.md")

_PART = re.compile(r"(<!-- (\w+): written by [^>]*-->\n).*?(<!-- end -->)", re.DOTALL)

_ADVICE = {
    "invalidInput": "correct the field that `details.field` names",
    "notAuthenticated": "the key is missing or ended: tell the user",
    "notAllowed": "your tier is too low: leave the field out, or ask the user",
    "notFound": "check the id; a closed project looks the same; `details.toolset` is not allowed",
    "conflict": "read the entry again, then repeat the change",
    "tooLarge": "send less at once; a full project needs the user",
    "rateLimited": "wait as long as `Retry-After` says",
    "unavailable": "the store is loading or out of order: try again shortly, then tell the user",
    "storageFull": "the disk is full: reads go on, tell the user",
    "internal": "not your fault: tell the user the error id",
}
"""What an agent should do about each error."""


def fill(page: str) -> str:
    """Return the page with every part filled from the code."""
    parts: dict[str, Callable[[], str]] = {
        "kinds": kinds,
        "errors": errors,
        "commands": commands,
        "care": care,
    }
    parts |= {one.value: partial(_toolset, one.value) for one in DROP_IN_TOOLSETS}
    return _PART.sub(lambda found: f"{found[1]}{parts[found[2]]()}\n{found[3]}", page)


def kinds() -> str:
    """Return the table of kinds."""
    rows = []
    for kind, body in BODY_TYPES.items():
        main = MAIN_FIELDS[kind]
        others = [name for name in body.__struct_encode_fields__ if name not in main]
        purpose = (body.__doc__ or "").rstrip(".")
        rows.append((f"`{kind}`", purpose, _code(main, " or "), _code(others, ", ")))
    return _table(("kind", "for", "main field", "other fields"), rows)


def errors() -> str:
    """Return the table of errors."""
    classes: list[type[QmsError]] = [*QmsError.__subclasses__(), QmsError]
    return _table(
        ("code", "what to do"), [(f"`{error.code}`", _ADVICE[error.code]) for error in classes]
    )


def commands() -> str:
    """Return the tables of commands, one for each toolset."""
    toolsets = dict.fromkeys(
        command.toolset
        for command in TABLE
        if command.toolset is not None and command.toolset not in DROP_IN_TOOLSETS
    )
    return "\n\n".join(f"### {name}\n\n{_toolset(name)}" for name in toolsets)


def care() -> str:
    """Return the table of commands that maintain a store."""
    rows = [
        (
            f"`{row.care_route.method} {row.care_route.path}`",
            f"`{row.name}`",
            row.least.label,
            row.help,
        )
        for row in TABLE
        if row.care
    ]
    return _table(("route", "command", "tier", "what it does"), rows)


def _toolset(name: str) -> str:
    rows = [_command(command) for command in TABLE if command.toolset == name]
    return _table(("command", "tier", "what it does", "example"), rows)


def _command(command: Command) -> tuple[str, ...]:
    example = json.dumps(command.example, ensure_ascii=False).replace("|", "\\|")
    return f"`{command.name}`", command.least.label, command.help, f"`{example}`"


def _code(names: Iterable[str], joint: str) -> str:
    return joint.join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    for page in PAGES:
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
