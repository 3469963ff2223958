"""A server of this process, in a thread and on a free port of this machine."""

import threading
from contextlib import ExitStack
from pathlib import Path

from qms.config.addresses import ListenAddress
from qms.domain.errors import UnavailableError
from qms.host.listening import Served, http_server
from qms.host.opening import opened_root

START_LIMIT_S = 30.0

_ANY_PORT = ListenAddress("http", "127.0.0.1", 0)


class OwnServer:
    """Owns a root and answers until `close`, which folds what was written."""

    def __init__(self, root: Path) -> None:
        """Own a root and listen.

        Raises:
            ConflictError: another process owns it.
            InvalidInputError: its configuration is not valid.
            UnavailableError: it cannot be used.
        """
        listening = threading.Event()
        self._undo = ExitStack()
        try:
            opened = self._undo.enter_context(opened_root(root, makes_admin=False))
            server = http_server(opened, [_ANY_PORT], lambda _line: listening.set(), Served())
            self._thread = threading.Thread(target=server.serve_until_stopped, name="server")
            self._undo.callback(self._thread.join)
            self._undo.callback(server.stop)
            self._thread.start()
            if not listening.wait(START_LIMIT_S):
                raise UnavailableError(f"the server of {root} does not start")
        except BaseException:
            self._undo.close()
            raise

    @property
    def is_alive(self) -> bool:
        """Say whether it still answers."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End requests under way, fold, and give the root back."""
        self._undo.close()
