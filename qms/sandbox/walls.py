"""Walls: what the operating system refuses a worker, raised by the worker itself.

`raise_walls` returns the walls that the system accepted; health reports those and no others.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum

import msgspec

if sys.platform == "win32":
    from qms.sandbox import windows
else:
    import os
    import resource

if sys.platform == "linux":
    from qms.sandbox import linux


class Wall(StrEnum):
    """One kind of lock-down."""

    NO_NEW_PRIVILEGES = "noNewPrivileges"
    LANDLOCK = "landlock"
    SECCOMP = "seccomp"
    RESOURCE_LIMITS = "resourceLimits"
    JOB_OBJECT = "jobObject"
    RESTRICTED_TOKEN = "restrictedToken"  # noqa: S105 - a token of Windows


ALL_WALLS = frozenset(Wall)
"""Every wall that the system has; what a worker gets unless it is told otherwise."""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much one job may use."""

    memory_bytes: int = 512 * 1024 * 1024
    deadline_s: float = 60.0
    message_bytes: int = 64 * 1024 * 1024
    """The length of the longest message, in either direction."""


def begin_worker() -> None:
    """Lower this process' priority, and let it end with the server where the system can."""
    if sys.platform == "linux":
        linux.die_with_parent()
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(5)


def raise_walls(bounds: Bounds, wanted: frozenset[Wall]) -> list[Wall]:
    """Lock this process down, and return the walls that stand.

    Landlock needs a descriptor and comes before the limits; seccomp refuses all of these calls.
    """
    if sys.platform == "win32":
        stands = Wall.RESTRICTED_TOKEN in wanted and windows.restrict_own_token()
        return [Wall.RESTRICTED_TOKEN] if stands else []
    steps: list[tuple[Wall, Callable[[], bool]]] = []
    if sys.platform == "linux":
        steps.append((Wall.NO_NEW_PRIVILEGES, linux.drop_privileges))
        steps.append((Wall.LANDLOCK, linux.close_files))
    steps.append((Wall.RESOURCE_LIMITS, lambda: _limit_resources(bounds)))
    if sys.platform == "linux":
        steps.append((Wall.SECCOMP, linux.filter_system_calls))
    return [wall for wall, step in steps if wall in wanted and step()]


def _limit_resources(bounds: Bounds) -> bool:
    if sys.platform == "win32":
        return False
    seconds = int(bounds.deadline_s) + 1
    limits = {
        resource.RLIMIT_DATA: bounds.memory_bytes,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 3,
    }
    try:
        for name, most in limits.items():
            resource.setrlimit(name, (most, most))
    except (OSError, ValueError):
        return False
    return True
