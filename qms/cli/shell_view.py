"""Prints memories in the shell: retention, a bar for the priority, and the title."""

from collections.abc import Mapping
from typing import Any

from qms.cli import output
from qms.memory.bodies import Kind, main_text
from qms.memory.entry import FIELD_DEFAULTS, split_id

BAR_CELLS = 10
_FULL, _EMPTY = "█", "░"
_PREVIEW_COLUMNS = 76
_HIGH, _MIDDLE = 8, 5
_RETENTION_COLOURS = {"short": "red", "mid": "yellow", "long": "green"}
_INDENT = "    "


def priority_bar(priority: int) -> str:
    """Return a priority from 1 to 10 as a bar of ten cells."""
    filled = max(0, min(BAR_CELLS, priority))
    return _FULL * filled + _EMPTY * (BAR_CELLS - filled)


def show_entry(entry: Mapping[str, Any], *, snippet: str = "", score: float | None = None) -> None:
    """Print one memory in two lines."""
    retention, priority = str(_field(entry, "retention")), int(_field(entry, "priority"))
    colour = {"fg": _RETENTION_COLOURS.get(retention, "white")}
    namespace = _field(entry, "namespace")
    output.styled_line(
        (split_id(entry["id"])[1], colour),
        ("  ", {}),
        (f"[{retention}]", colour),
        (" ", {}),
        (priority_bar(priority), {"fg": _bar_colour(priority)}),
        (" ", {}),
        (entry.get("title", ""), {"bold": True}),
        (f"  {namespace}" if namespace else "", {"fg": "cyan"}),
        (f"  {score:.3f}" if score is not None else "", {}),
    )
    _show_preview(snippet or _text(entry), entry.get("title"))


def show_memory(memory: Mapping[str, Any]) -> None:
    """Print one recalled memory in two lines."""
    output.styled_line(
        (split_id(memory["id"])[1], {}),
        ("  ", {}),
        (memory["title"], {"bold": True}),
        (f"  {memory['score']:.3f}", {}),
    )
    _show_preview(memory["text"], memory["title"])


def _show_preview(text: str, title: str | None) -> None:
    preview = " ".join(text.split())
    if preview and preview != title:
        output.styled_line((_INDENT + output.cut(preview, _PREVIEW_COLUMNS), {"dim": True}))


def show_stats(stats: Mapping[str, Any]) -> None:
    """Print the counts of a project, by retention first."""
    output.line(
        f"{stats['entries']:,} memories, {stats['bytes']:,} bytes, {stats['links']:,} links"
    )
    for retention, count in stats["byRetention"].items():
        colour = {"fg": _RETENTION_COLOURS.get(retention, "white")}
        output.styled_line((f"  {retention:<6}", colour), (f"{count:>8,}", {}))
    output.line(f"{stats['expiringSoon']:,} expire within a day, {stats['archived']:,} archived")


def show_namespaces(namespaces: list[dict[str, Any]]) -> None:
    """Print the namespaces with their number of memories."""
    for one in namespaces:
        output.styled_line(
            (f"{one['count']:>8,}  ", {}), (one["namespace"] or "(none)", {"fg": "cyan"})
        )


def _field(entry: Mapping[str, Any], name: str) -> Any:
    return entry.get(name, FIELD_DEFAULTS[name])


def _text(entry: Mapping[str, Any]) -> str:
    kind = entry.get("kind", "")
    is_known = kind in frozenset(Kind) and isinstance(entry.get("body"), dict)
    return main_text(Kind(kind), entry["body"]) if is_known else ""


def _bar_colour(priority: int) -> str:
    if priority >= _HIGH:
        return "green"
    return "yellow" if priority >= _MIDDLE else "red"
