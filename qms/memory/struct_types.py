"""Prepares msgspec types before threads start, so that threads can decode them.

msgspec builds the information of a Struct type when the type is first decoded, converted to or
described as a schema. It publishes that information before it is complete: a second thread that
uses the type at that moment ends the process with SIGSEGV. Encoding needs no such information.
"""

import sys
import threading
from collections.abc import Iterator

import msgspec

_PACKAGE = __name__.partition(".")[0] + "."

_lock = threading.Lock()
_seen: set[type[msgspec.Struct]] = set()


def prepare_types() -> int:
    """Build what msgspec needs of every loaded type of the package; return how many are new.

    Each program calls this before its first thread starts. A module that is imported later makes
    its decoders at module level: the import lock then keeps other threads away from its types.
    """
    with _lock:
        new = [found for found in loaded_types() if found not in _seen]
        for found in new:
            _prepare(found)
        _seen.update(new)
        return len(new)


def loaded_types() -> Iterator[type[msgspec.Struct]]:
    """Yield every Struct type of the package whose module is completely imported."""
    for found in _subclasses(msgspec.Struct):
        if found.__module__.startswith(_PACKAGE) and not _is_being_imported(found.__module__):
            yield found


def _prepare(found: type[msgspec.Struct]) -> None:
    try:
        msgspec.json.Decoder(found)
    except (NameError, TypeError):
        # Some types hold what no file holds, such as a thread or an array. For these types msgspec
        # refuses every use that could build the information.
        return


def _subclasses(parent: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for child in parent.__subclasses__():
        yield child
        yield from _subclasses(child)


def _is_being_imported(name: str) -> bool:
    """Say whether another thread may still be making decoders in this module."""
    return bool(getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False))
