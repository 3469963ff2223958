"""How the process gets its memory from glibc, so that what was freed is used again or given back.

glibc gives up to eight arenas a core to the threads of a process, and what a thread has freed
stays in its arena. The keyword index writes with new threads at every commit: each found another
arena to fill. And once a large block was freed, glibc takes the next large ones from an arena as
well, where entries that are stored meanwhile keep the pages around them in use. By both, the
resident memory grew by several times what the entries take.
"""

import ctypes
import sys

MAX_ARENAS = 2
"""For Python and the event loop, and for all other threads."""

OWN_PAGES_FROM = 1_000_000
"""Blocks of so many bytes have pages of their own, which go back when they are freed: those in
which the keyword index collects what it writes are of 1 MiB. Arrays of a search are smaller."""

KEPT_FREE = 16 << 20
"""So many bytes at the end of an arena are kept for what comes next."""

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def spare_memory() -> bool:
    """Set this for the process; False where the C library is another one."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is None:
        return False
    wanted = {
        _M_ARENA_MAX: MAX_ARENAS,
        _M_MMAP_THRESHOLD: OWN_PAGES_FROM,
        _M_TRIM_THRESHOLD: KEPT_FREE,
    }
    taken = [mallopt(name, value) for name, value in wanted.items()]
    return all(taken)
