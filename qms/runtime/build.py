"""The composition root below HTTP: configuration, stores, their keepers and the audit log."""

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from qms.config.settings import Settings
from qms.domain.errors import InvalidInputError, NotFoundError, QmsError
from qms.domain.limits import Limits
from qms.files.audit import AuditLog
from qms.files.key_uses import read_key_uses
from qms.files.moves import MOVES_FILE
from qms.files.watcher import FolderWatcher
from qms.fsio.disk import Disk
from qms.fsio.lock import RootLock
from qms.inference.choose import Chosen, ChosenReranker, model_folders, open_embedder
from qms.runtime.chat_chooser import ChatChooser
from qms.runtime.jobs import Jobs
from qms.runtime.keeper import Keeper, KeeperOptions
from qms.runtime.key_saver import KeySaver, audit_ended_key
from qms.runtime.local_key import remove_local_key, write_local_key
from qms.runtime.loop import Loop
from qms.runtime.root import AUDIT_PLACE, CONFIGURATION_NAME, KEYS_PLACE, announce, claim_root
from qms.runtime.settings_keeper import SettingsKeeper
from qms.service.backup_desk import BackupDesk
from qms.service.calls import Command
from qms.service.commands import Services
from qms.service.configuration import Configuration, new_key
from qms.service.keyring import Keyring
from qms.service.library import Library
from qms.service.moving import finish_moves
from qms.service.proposing import ProposalDesk
from qms.service.table import TABLE
from qms.service.touching import settle
from qms.store.catalog import Catalog, by_last_use
from qms.store.memory_store import OWN_FOLDER, MemoryStore
from qms.store.options import StoreOptions
from qms.telemetry.series import SAMPLE_S, Series, StoreFigures

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]


class _Plan(msgspec.Struct, frozen=True):
    """What a project's store depends on; when it changes, the store is opened anew."""

    storage_root: str
    folder: str
    backup_root: str
    limits: Limits


class _Kept(msgspec.Struct, frozen=True):
    keeper: Keeper
    folder: Path


class Runtime:
    """A root that is open, below HTTP; `close` ends everything in order.

    In the background, stores are loaded at once and looked after; otherwise, as for a command on
    files, a store is opened when somebody asks for it and folded when the runtime is closed.
    """

    def __init__(
        self,
        root: Path,
        configuration: Configuration,
        *,
        disk: Disk,
        clock: Clock,
        watcher: FolderWatcher | None = None,
        in_background: bool = True,
    ) -> None:
        self.root = root
        self.configuration = configuration
        self.audit = AuditLog(root / AUDIT_PLACE, disk)
        self.catalog = Catalog(self._open_store, closer=self._close_store)
        self.library = Library(
            self._choose_embedder,
            disk,
            open_reranker=self._choose_reranker,
            choose_chat=ChatChooser(lambda: configuration.settings.llm, os.environ),
            in_background=in_background,
        )
        self.keyring = Keyring(
            read_key_uses(root / KEYS_PLACE),
            clock=clock,
            on_ended_key=partial(audit_ended_key, self.audit),
        )
        self._key_saver = KeySaver(self.keyring, configuration, root / KEYS_PLACE, disk)
        self.series = Series()
        self.desk = BackupDesk(
            configuration,
            self.catalog,
            disk,
            audit=self.audit,
            clock=clock,
            in_background=in_background,
        )
        self._backups = Loop("backups", self.desk.work, gives_way=True)
        self.desk.wake = self._backups.wake
        self._sampler = Loop("sampler", self._sample, first_after_s=SAMPLE_S)
        self._librarian = Loop("librarian", self.library.work, gives_way=True)
        self.library.wake = self._librarian.wake
        self._scribe = Loop("scribe", self.library.write_words)
        self.library.wake_writer = self._scribe.wake
        self.proposals = ProposalDesk(
            self.catalog,
            self.library,
            clock=clock,
            is_on=lambda: in_background and configuration.settings.llm.proposals,
        )
        # A model that hangs keeps nobody from stopping: what it says by then counts for nothing.
        self._proposing = Loop("proposals", self.proposals.work, gives_way=True, stop_wait_s=0.1)
        self.proposals.wake = self._proposing.wake
        self._disk = disk
        self._clock = clock
        self._watcher = watcher or FolderWatcher()
        self._in_background = in_background
        self._settings_keeper = SettingsKeeper(configuration, self._watcher)
        self._jobs = Jobs(
            self.catalog, lambda: configuration.settings, clock, begin=self.finish_moves
        )
        self._kept: dict[str, _Kept] = {}
        self._plans: dict[str, _Plan] = {}
        self._is_loading = False
        self._is_closed = False
        self._has_local_key = False

    def services(self, commands: tuple[Command, ...] = TABLE) -> Services:
        """Return the gate to what is open here."""
        return Services(
            self.configuration,
            self.catalog,
            self.library,
            audit=self.audit,
            series=self.series,
            clock=self._clock,
            commands=commands,
            keyring=self.keyring,
            desk=self.desk,
        )

    @property
    def is_watching(self) -> bool:
        """Say whether hand edits are noticed at once, and not only by the poll."""
        return self._watcher.is_alive

    def start(self) -> None:
        """Know every project, and follow the configuration from now on."""
        self.configuration.subscribe(self._apply)
        self._apply(self.configuration.settings)

    def load(self) -> None:
        """Begin to load stores and to look after them in the background."""
        if self._in_background and not self._is_closed:
            self._is_loading = True
            self.catalog.load()
            self._settings_keeper.start()
            self.start_librarian()
            self._jobs.start()
            self._sampler.start()
            self._backups.start()
            self._proposing.start()
            self._key_saver.start()

    def finish_moves(self) -> None:
        """Finish moves between stores that a crash has cut off; the others are not opened."""
        settings = self.configuration.settings
        for project in self.catalog.projects:
            try:
                folder = settings.store_folder(self.root, settings.endpoints[project])
                if (folder / OWN_FOLDER / MOVES_FILE).exists():
                    finish_moves(self.catalog.get(project), self.catalog, settings)
            except QmsError as error:
                log.warning("move not finished", extra={"project": project, "reason": str(error)})

    def start_librarian(self) -> None:
        """Have indexes made and kept in the background, also for a command on files."""
        self._librarian.start()
        self._scribe.start()

    def admit_owner(self) -> None:
        """Leave a key for whoever owns the machine; it is good until the runtime is closed."""
        key = new_key()
        if write_local_key(self.root, key, self._disk):
            self.keyring.admit_local(key)
            self._has_local_key = True

    def close(self) -> None:
        """Fold and close every store, and end every thread."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._has_local_key:
            remove_local_key(self.root, self._disk)
        if self._is_loading:
            self.proposals.stop()
            self._proposing.stop()
            self._settings_keeper.stop()
            self._jobs.stop()
            self._sampler.stop()
            self._backups.stop()
            self._key_saver.stop()
        self._librarian.stop()
        self._scribe.stop()
        self.catalog.close()
        self._watcher.stop()
        self.audit.close()

    def _apply(self, settings: Settings) -> None:
        """Open, close and open anew what the settings ask for."""
        if self._is_closed:
            return
        before, self._plans = self._plans, _plans(settings)
        for project, plan in before.items():
            if self._plans.get(project) != plan:
                self.catalog.remove(project)
        self._begin(
            settings, [name for name, plan in self._plans.items() if before.get(name) != plan]
        )
        for kept in list(self._kept.values()):
            kept.keeper.configure(_keeper_options(settings))

    def _begin(self, settings: Settings, projects: Iterable[str]) -> None:
        if not self._in_background:
            self.catalog.register(projects)
            return
        folders: dict[str, Path] = {}
        misplaced: list[str] = []
        for project in projects:
            try:
                folders[project] = settings.store_folder(self.root, settings.endpoints[project])
            except InvalidInputError:
                misplaced.append(project)  # its opening fails with the reason, for this store only
        self.catalog.enqueue([*by_last_use(folders), *misplaced])
        if self._is_loading:
            self.catalog.load()

    def _open_store(self, project: str) -> MemoryStore:
        settings = self.configuration.settings
        endpoint = settings.find_endpoint(project)
        if endpoint is None:
            raise NotFoundError(f"no project {project}", project=project)
        folder = settings.store_folder(self.root, endpoint)
        store = MemoryStore.open(
            folder,
            project,
            disk=self._disk,
            options=StoreOptions(limits=settings.global_.limits),
            backup_root=settings.backup_folder(self.root),
            clock=self._clock,
        )
        try:
            self._audit(store)
            self.library.add(store, folder / "indexes")
            if self._in_background:
                self._keep(store, folder)
        except BaseException:
            store.close()
            raise
        return store

    def _audit(self, store: MemoryStore) -> None:
        project = store.project
        self.audit.opened(project, store.view.sequence)
        store.before_cut(partial(self.audit.complete, project))
        store.subscribe(partial(self.audit.append, project))
        try:
            self.audit.complete(project, store.uncut())
        except OSError as error:
            # Said in the log by the audit itself; the journal is not cut before it succeeds.
            log.debug("audit not completed yet", extra={"project": project, "errno": error.errno})

    def _keep(self, store: MemoryStore, folder: Path) -> None:
        keeper = Keeper(store, KeeperOptions())
        store.subscribe(lambda _sequence, _changes: keeper.wake())
        self._kept[store.project] = _Kept(keeper, folder)
        # Only now, so that settings which change meanwhile are not missed.
        keeper.configure(_keeper_options(self.configuration.settings))
        self._watcher.watch(folder, keeper.file_changed)
        # What was saved between the loading and the watching would be seen by the poll only.
        keeper.file_changed(folder)
        keeper.start()

    def _close_store(self, store: MemoryStore) -> None:
        kept = self._kept.pop(store.project, None)
        if kept is not None:
            self._watcher.unwatch(kept.folder)
            kept.keeper.stop()
        self._settle(store)
        store.close()
        self.library.drop(store.project)

    def _settle(self, store: MemoryStore) -> None:
        try:
            settle(store, self.configuration.settings.global_.retention, self._clock())
        except QmsError as error:
            log.warning("use not settled", extra={"project": store.project, "reason": str(error)})

    def _sample(self) -> float:
        stores = {
            project: StoreFigures(
                entries=len(store.view),
                embedding_backlog=self.library.backlog(project),
                pending_journal=store.pending_journal,
            )
            for project in self.catalog.projects
            if (store := self.catalog.loaded(project)) is not None
        }
        self.series.sample(self._clock(), stores)
        return SAMPLE_S

    def _choose_embedder(self) -> Chosen:
        wanted = self.configuration.settings.global_.embedding
        return open_embedder(wanted.model, model_folders(self.root), threads=wanted.threads)

    def _choose_reranker(self) -> ChosenReranker:
        from qms.inference.cross_encoder import open_reranker  # numpy: after the port answers

        settings = self.configuration.settings.global_
        folders = model_folders(self.root)
        return open_reranker(settings.reranker.model, folders, threads=settings.embedding.threads)


class OpenRoot(msgspec.Struct, frozen=True):
    """A root that this process owns; `first_key` is the admin's when this was its first run."""

    runtime: Runtime
    lock: RootLock
    first_key: str | None

    def announce(self, url: str) -> None:
        """Write down where the owner of the root answers, for others who find it locked."""
        self.runtime.admit_owner()
        announce(self.lock, url)

    def close(self) -> None:
        """Close the runtime and give the root back."""
        try:
            self.runtime.close()
        finally:
            self.lock.release()


def open_root(
    root: Path,
    *,
    disk: Disk,
    clock: Clock,
    command: str = "",
    in_background: bool = True,
    loads: bool = True,
    makes_admin: bool = True,
) -> OpenRoot:
    """Own a root, read or seed its configuration, and start its runtime.

    Without `loads`, the background waits for `runtime.load`; without `makes_admin`, a first run
    leaves it to a later one to make an admin and show the key.

    Raises:
        ConflictError: another process owns the root; the message names it.
        InvalidInputError: the configuration is not valid; `details` has the field and the line.
        StorageFullError, OSError: the root cannot be written.
    """
    with ExitStack() as undo:
        lock = claim_root(root, clock, command=command)
        undo.callback(lock.release)
        configuration = Configuration(root / CONFIGURATION_NAME, disk, clock)
        first_key = configuration.load(makes_admin=makes_admin)
        runtime = Runtime(root, configuration, disk=disk, clock=clock, in_background=in_background)
        undo.callback(runtime.close)
        runtime.start()
        if loads:
            runtime.load()
        if not in_background:
            runtime.finish_moves()
        undo.pop_all()
    return OpenRoot(runtime, lock, first_key)


def _plans(settings: Settings) -> dict[str, _Plan]:
    common = settings.global_
    return {
        project: _Plan(common.storage_root, endpoint.folder, common.backup_root, common.limits)
        for project, endpoint in settings.endpoints.items()
    }


def _keeper_options(settings: Settings) -> KeeperOptions:
    return KeeperOptions(
        debounce_s=settings.global_.debounce_milliseconds / 1000,
        poll_s=settings.global_.poll_seconds,
    )
