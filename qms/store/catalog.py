"""The catalog: every project's store, loaded in the background independently of the others.

A store that cannot be opened is a recorded failure of that project; it never stops another. At
most one thread opens a store. Other callers wait for that store only.
"""

import contextlib
import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from qms.memory.changes import ChangeSet
from qms.memory.errors import NotFoundError, QmsError, UnavailableError
from qms.store.memory_store import MemoryStore

LOADERS = 2
"""Decoding holds the interpreter's lock: more threads than this only overlap waiting for disks."""

RETRY_AFTER_S = 5.0
"""How long to wait before a store that could not be opened is tried again."""

CLOSE_WAIT_S = 30.0
"""How long `close` waits for stores that are still loading."""

log = logging.getLogger(__name__)

Opener = Callable[[str], MemoryStore]
Closer = Callable[[MemoryStore], None]
ChangeListener = Callable[[str, ChangeSet], None]


class _Queued(msgspec.Struct, frozen=True):
    pass


class _Loading(msgspec.Struct, frozen=True):
    pass


class _Open(msgspec.Struct, frozen=True):
    store: MemoryStore


class _Failed(msgspec.Struct, frozen=True):
    reason: str
    retry_at: float


_State = _Queued | _Loading | _Open | _Failed


class Catalog:
    """Every project's store; any thread may call any method.

    `opener` makes a project's store ready for use, `closer` ends what it began.
    """

    def __init__(
        self,
        opener: Opener,
        *,
        closer: Closer = MemoryStore.close,
        loaders: int = LOADERS,
        retry_after_s: float = RETRY_AFTER_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._opener = opener
        self._closer = closer
        self._max_loaders = loaders
        self._retry_after_s = retry_after_s
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._states: dict[str, _State] = {}
        self._queue: deque[str] = deque()
        self._loaders = 0
        self._is_closing = False
        self._listeners: list[ChangeListener] = []

    def subscribe(self, listener: ChangeListener) -> None:
        """Have `listener` called with project and change set once a commit is visible."""
        self._listeners.append(listener)

    @property
    def projects(self) -> list[str]:
        """Return every project, whether its store is open or not."""
        with self._changed:
            return list(self._states)

    @property
    def failures(self) -> dict[str, str]:
        """Return why stores could not be opened, by project."""
        with self._changed:
            states = self._states.items()
            return {name: state.reason for name, state in states if isinstance(state, _Failed)}

    @property
    def is_loading(self) -> bool:
        """Say whether some store is still to be opened."""
        with self._changed:
            return self._has_unfinished()

    def register(self, projects: Iterable[str]) -> None:
        """Add projects; each is opened on first use."""
        with self._changed:
            for project in projects:
                self._states.setdefault(project, _Queued())

    def start(self, projects: Iterable[str]) -> None:
        """Open the stores of these projects in the background, in this order."""
        self.enqueue(projects)
        self.load()

    def enqueue(self, projects: Iterable[str]) -> None:
        """Add projects for `load` to open; a caller that needs one earlier opens it."""
        names = list(projects)
        self.register(names)
        with self._changed:
            self._queue.extend(names)

    def load(self) -> None:
        """Begin to open what is in the queue."""
        with self._changed:
            while self._loaders < min(self._max_loaders, len(self._queue)):
                self._loaders += 1
                name = f"store-loader-{self._loaders}"
                threading.Thread(target=self._load_queued, name=name, daemon=True).start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until every store is open or failed; False when the time was too short."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._has_unfinished(), timeout_s)

    def loaded(self, project: str) -> MemoryStore | None:
        """Return the project's store if it is open."""
        state = self._states.get(project)
        return state.store if isinstance(state, _Open) else None

    def get(self, project: str) -> MemoryStore:
        """Return the project's store; open it in this thread if no other thread does.

        Raises:
            NotFoundError: the catalog has no such project.
            UnavailableError: the store cannot be opened; the message says why.
        """
        state = self._states.get(project)
        if isinstance(state, _Open):
            return state.store
        return self._obtain(project, is_forced=False)

    def retry(self, project: str) -> MemoryStore:
        """Return the project's store, opening it now even if that failed a moment ago.

        Raises:
            NotFoundError: the catalog has no such project.
            UnavailableError: the store cannot be opened; the message says why.
        """
        return self._obtain(project, is_forced=True)

    def remove(self, project: str) -> None:
        """Close the project's store and forget it; waits for it when it is being opened."""
        with self._changed:
            self._changed.wait_for(lambda: not isinstance(self._states.get(project), _Loading))
            state = self._states.pop(project, None)
            self._changed.notify_all()
        if isinstance(state, _Open):
            self._close_store(state.store)

    def close(self) -> None:
        """Close every store; callers that still wait for one get an error."""
        with self._changed:
            self._is_closing = True
            self._queue.clear()
            self._changed.wait_for(lambda: not self._is_opening(), CLOSE_WAIT_S)
            states = list(self._states.values())
            self._states.clear()
            self._changed.notify_all()
        stores = [state.store for state in states if isinstance(state, _Open)]
        with ThreadPoolExecutor(self._max_loaders, "store-closer") as pool:
            for _ in pool.map(self._close_store, stores):
                pass

    def _obtain(self, project: str, *, is_forced: bool) -> MemoryStore:
        state = self._settled_or_claimed(project, is_forced=is_forced)
        if isinstance(state, _Loading):
            state = self._load(project)
        match state:
            case _Open(store):
                return store
            case _Failed(reason):
                raise UnavailableError(
                    f"store {project} cannot be opened: {reason}", project=project, reason=reason
                )

    def _settled_or_claimed(self, project: str, *, is_forced: bool) -> _Open | _Failed | _Loading:
        """Wait for a loading store; `_Loading` means that the calling thread has to open it."""
        with self._changed:
            while True:
                match self._known_state(project):
                    case _Open() as state:
                        return state
                    case _Failed(_, retry_at) as state if self._is_early(retry_at, is_forced):
                        return state
                    case _Failed() | _Queued():
                        self._states[project] = claimed = _Loading()
                        return claimed
                    case _Loading():
                        self._changed.wait()
                        is_forced = False

    def _known_state(self, project: str) -> _State:
        if self._is_closing:
            raise UnavailableError("the stores are being closed: start the server again")
        state = self._states.get(project)
        if state is None:
            raise NotFoundError(f"no project {project}", project=project)
        return state

    def _is_early(self, retry_at: float, is_forced: bool) -> bool:
        return not is_forced and self._monotonic() < retry_at

    def _load_queued(self) -> None:
        with _collector_paused():
            while (project := self._next_queued()) is not None:
                self._load(project)
        if not self.is_loading:
            # Loaded entries live long: the garbage collector need not visit them again.
            gc.freeze()

    def _next_queued(self) -> str | None:
        """Return what the calling loader opens next, or None: then the loader ends."""
        with self._changed:
            while self._queue:
                project = self._queue.popleft()
                if isinstance(self._states.get(project), _Queued):
                    self._states[project] = _Loading()
                    return project
            self._loaders -= 1
            self._changed.notify_all()
        return None

    def _load(self, project: str) -> _Open | _Failed:
        state: _Open | _Failed = self._failed("opening was interrupted")
        try:
            with _collector_paused():
                store = self._opener(project)
            store.subscribe(partial(self._tell, project))
            state = _Open(store)
        except Exception as error:  # the reason goes to the threads that wait for the store
            log.exception("store not opened", extra={"project": project})
            state = self._failed(_reason(error))
        finally:
            with self._changed:
                is_late = self._is_closing and project not in self._states
                if not is_late:
                    self._states[project] = state
                self._changed.notify_all()
            if is_late and isinstance(state, _Open):
                self._close_store(state.store)
        return state

    def _tell(self, project: str, _sequence: int, changes: ChangeSet) -> None:
        for listener in self._listeners:
            listener(project, changes)

    def _failed(self, reason: str) -> _Failed:
        return _Failed(reason, self._monotonic() + self._retry_after_s)

    def _is_opening(self) -> bool:
        return any(isinstance(state, _Loading) for state in self._states.values())

    def _has_unfinished(self) -> bool:
        return bool(self._queue) or self._loaders > 0 or self._is_opening()

    def _close_store(self, store: MemoryStore) -> None:
        try:
            self._closer(store)
        except Exception:  # the job loop of closing: the other stores are closed too
            log.exception("store not closed cleanly", extra={"project": store.project})
        finally:
            # A store and its indexes refer to each other: frozen, they would stay in RAM for ever.
            gc.unfreeze()


def by_last_use(folders: Mapping[str, Path]) -> list[str]:
    """Return the projects of these store folders, the one used last first."""
    return sorted(folders, key=lambda project: _last_use(folders[project]), reverse=True)


def _last_use(folder: Path) -> float:
    own = folder / ".qms"
    times = [0.0]
    with contextlib.suppress(OSError):
        times.append((folder / "entries.jsonl").stat().st_mtime)
    with contextlib.suppress(OSError):
        times.extend(path.stat().st_mtime for path in own.iterdir())
    return max(times)


def _reason(error: Exception) -> str:
    """Return the part of an error that a caller may see: no path, no stack."""
    match error:
        case QmsError(message=message):
            return message
        case OSError(strerror=str(text)):
            return f"{Path(error.filename).name}: {text}" if error.filename else text
        case _:
            return f"unexpected {type(error).__name__}, see the log"


_collector_lock = threading.Lock()
_collector_pauses = 0
_collector_was_enabled = False


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Turn the garbage collector off: visiting new entries costs more than loading them."""
    global _collector_pauses, _collector_was_enabled
    with _collector_lock:
        if _collector_pauses == 0:
            _collector_was_enabled = gc.isenabled()
            gc.disable()
        _collector_pauses += 1
    try:
        yield
    finally:
        with _collector_lock:
            _collector_pauses -= 1
            if _collector_pauses == 0 and _collector_was_enabled:
                gc.enable()
