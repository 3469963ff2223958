"""How the process gets its memory from glibc, so that what was freed is used again or given back.

glibc gives up to eight arenas a core to the threads of a process, and what a thread has freed
stays in its arena. The keyword index writes with new threads at every commit: each found another
arena to fill. And once a large block was freed, glibc takes the next large ones from an arena as
well, where entries that are stored meanwhile keep the pages around them in use. By both, the
resident memory grew by several times what the entries take.

What is free between blocks in use is given back now and then: a commit of the keyword index or an
import needs far more for a moment than afterwards.
"""

import asyncio
import ctypes
import sys
from collections.abc import Callable

MAX_ARENAS = 2
"""For Python and the event loop, and for all other threads."""

OWN_PAGES_FROM = 1_000_000
"""Blocks of so many bytes have pages of their own, which go back when they are freed: those in
which the keyword index collects what it writes are of 1 MiB. Arrays of a search are smaller."""

KEPT_FREE = 16 << 20
"""So many bytes at the end of an arena are kept for what comes next."""

GIVE_BACK_EVERY_S = 10.0
"""It takes a few milliseconds, in which other threads get no memory."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def spare_memory() -> bool:
    """Set this for the process; False where the C library is another one."""
    mallopt = _glibc("mallopt")
    wanted = {
        _M_ARENA_MAX: MAX_ARENAS,
        _M_MMAP_THRESHOLD: OWN_PAGES_FROM,
        _M_TRIM_THRESHOLD: KEPT_FREE,
    }
    taken = [mallopt(name, value) for name, value in wanted.items()] if mallopt else []
    return len(taken) > 0 and all(taken)


def give_back() -> bool:
    """Give free pages back to the system; False where the C library is another one."""
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)
    return trim is not None


async def keep_small() -> None:
    """Give memory back again and again, until cancelled."""
    can_give_back = True
    while can_give_back:
        await asyncio.sleep(GIVE_BACK_EVERY_S)
        can_give_back = await asyncio.to_thread(give_back)


def _glibc(name: str) -> Callable[..., int] | None:
    """Return a function that only glibc has."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
