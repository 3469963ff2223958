"""How the process shares out its memory: in few arenas, so that what was freed is used again.

glibc gives up to eight arenas a core to the threads of a process, and what a thread has freed
stays in its arena. The keyword index writes with new threads at every commit: each found another
arena to fill, and the resident memory grew by several times what the entries take.
"""

import ctypes
import sys

MAX_ARENAS = 2
"""For Python and the event loop, and for all other threads."""

_M_ARENA_MAX = -8


def share_arenas(most: int = MAX_ARENAS) -> bool:
    """Keep the process to so many arenas; False where the C library knows of none."""
    if sys.platform != "linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return mallopt is not None and mallopt(_M_ARENA_MAX, most) == 1
