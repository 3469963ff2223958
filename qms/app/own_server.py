"""A server of a root within the process of `qms mcp`."""

from pathlib import Path

from qms.app.process import Order, Phase, ServerHost
from qms.config.addresses import ListenAddress
from qms.memory.errors import UnavailableError

START_LIMIT_S = 30.0

_ANY_PORT = ListenAddress("http", "127.0.0.1", 0)


class OwnServer:
    """Owns a root and answers until `close`, which folds its stores."""

    def __init__(self, root: Path) -> None:
        """Own a root and listen.

        Raises:
            ConflictError: another process owns it.
            InvalidInputError: its configuration is not valid.
            UnavailableError: it cannot be used.
        """
        self._host = ServerHost(Order(root=root, address=_ANY_PORT, makes_admin=False))
        self._host.start()
        is_in_time = self._host.wait_until(Phase.LOADING, START_LIMIT_S)
        if self._host.phase is Phase.LOADING or self._host.phase is Phase.READY:
            return
        self.close()
        outcome = self._host.wait()
        if is_in_time and outcome is not None and outcome.error is not None:
            raise outcome.error
        raise UnavailableError(f"the server of {root} does not start")

    @property
    def is_alive(self) -> bool:
        """Say whether it still answers."""
        return self._host.phase < Phase.STOPPING

    def close(self) -> None:
        """End requests in flight, fold, and release the root."""
        self._host.stop()
        self._host.wait()
