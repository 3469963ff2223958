"""Configures glibc's allocator so that freed memory is reused or returned to the system.

glibc uses up to eight arenas a core, and memory freed by a thread stays in its arena. The keyword
index writes with new threads at every commit, and each filled another arena. After a large block
was freed, glibc takes the next large ones from an arena as well, where small blocks stored later
keep their pages in use. Both together made resident memory several times the size of the entries.

Free pages between blocks in use are returned every few seconds: a commit of the keyword index or
an import needs far more memory for a moment than afterwards.
"""

import asyncio
import ctypes
import sys
from collections.abc import Callable

MAX_ARENAS = 2
"""One for the main thread, one for all others."""

OWN_PAGES_FROM = 1_000_000
"""Blocks of at least this many bytes get their own pages, which are returned when freed. The
keyword index writes through buffers of 1 MiB; the arrays of a search are smaller."""

KEPT_FREE = 16 << 20
"""This many free bytes at the end of an arena are kept for later blocks."""

GIVE_BACK_EVERY_S = 10.0
"""A trim takes a few milliseconds, in which other threads cannot allocate."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def spare_memory() -> bool:
    """Apply these limits to the process; return False if the C library is not glibc."""
    mallopt = _glibc("mallopt")
    wanted = {
        _M_ARENA_MAX: MAX_ARENAS,
        _M_MMAP_THRESHOLD: OWN_PAGES_FROM,
        _M_TRIM_THRESHOLD: KEPT_FREE,
    }
    taken = [mallopt(name, value) for name, value in wanted.items()] if mallopt else []
    return len(taken) > 0 and all(taken)


def give_back() -> bool:
    """Return free pages to the system; return False if the C library is not glibc."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)
    return trim is not None


async def keep_small() -> None:
    """Return free pages every `GIVE_BACK_EVERY_S` until cancelled."""
    can_give_back = True
    while can_give_back:
        await asyncio.sleep(GIVE_BACK_EVERY_S)
        can_give_back = await asyncio.to_thread(give_back)


def _glibc(name: str) -> Callable[..., int] | None:
    """Return a function of glibc, or None."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
