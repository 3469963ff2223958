"""Formats how many entries have vectors."""

from typing import Any

from qms.cli.target import Session

MINUTES_FROM_S = 120
HOURS_FROM_S = 2 * 3600


def vectors_of(session: Session, project: str) -> dict[str, Any] | None:
    """Return the vector counts of a project from its health; None while they are not known."""
    stores = session.call(project, "health", {})["stores"]
    return next(
        (one.get("vectors") for one in stores if one["name"].casefold() == project.casefold()), None
    )


def missing_line(vectors: dict[str, Any] | None) -> str | None:
    """Return how many entries have vectors and the remaining time; None if all have them."""
    if vectors is None or vectors["done"] == vectors["total"]:
        return None
    seconds = vectors["secondsLeft"]
    when = "" if seconds is None else f" in about {_duration(seconds)}"
    return (
        f"{vectors['done']:,} of {vectors['total']:,} entries have vectors; the rest follows{when}"
    )


def _duration(seconds: int) -> str:
    if seconds >= HOURS_FROM_S:
        return f"{round(seconds / 3600)} h"
    return f"{round(seconds / 60)} min" if seconds >= MINUTES_FROM_S else f"{seconds} s"
