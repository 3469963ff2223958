"""Builds the runtime below HTTP: configuration, stores, their keepers and the audit log."""

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from pathlib import Path

import msgspec

from qms.app.chat_model import ChatChooser
from qms.app.feature_files import FEATURE_FILES
from qms.app.jobs import Jobs, KeySaver, SettingsKeeper, audit_ended_key
from qms.app.table import COMMANDS
from qms.auth.key_uses import read_key_uses
from qms.auth.keyring import Keyring
from qms.auth.local_key import remove_local_key, write_local_key
from qms.commands.command import Command
from qms.commands.context import Context
from qms.commands.gate import Gate
from qms.config.configuration import Configuration, new_key
from qms.config.root import (
    AUDIT_PLACE,
    CONFIGURATION_NAME,
    KEYS_PLACE,
    OWN_FOLDER,
    announce,
    claim_root,
)
from qms.config.settings import Settings
from qms.disk.disk import Disk
from qms.disk.permissions import Rights, give, rights_of
from qms.disk.root_lock import RootLock
from qms.disk.watcher import FolderWatcher
from qms.features.backups.queue import BackupQueue
from qms.features.documents.extract import Extractor
from qms.features.health.exposed_root import why_exposed
from qms.features.proposals.background import ProposalWorker
from qms.features.recall.uses import settle
from qms.features.transfer.move import finish_moves
from qms.features.transfer.moves_file import MOVES_FILE
from qms.index.indexer import Indexer
from qms.memory.errors import InvalidInputError, NotFoundError, QmsError
from qms.memory.limits import Limits
from qms.memory.struct_types import prepare_types
from qms.models.choose import Chosen, ChosenReranker, model_folders, open_embedder
from qms.store.catalog import Catalog, by_last_use
from qms.store.entries_file import ENTRIES_NAME
from qms.store.keeper import Keeper, KeeperOptions
from qms.store.loop import Loop
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions
from qms.telemetry.audit_log import AuditLog
from qms.telemetry.series import SAMPLE_S, Series, StoreFigures

log = logging.getLogger(__name__)

Clock = Callable[[], datetime]

AUDIT_CHECK_AFTER_S = 60.0
AUDIT_CHECK_EVERY_S = 24 * 3600.0


class _Plan(msgspec.Struct, frozen=True):
    """The settings that a project's store depends on; when they change, it is reopened."""

    storage_root: str
    folder: str
    backup_root: str
    limits: Limits


class _Kept(msgspec.Struct, frozen=True):
    keeper: Keeper
    folder: Path


class Runtime:
    """An open root, below HTTP; `close` ends everything in order.

    In the background, all stores are loaded and maintained. Otherwise, as for a command on files,
    a store is opened on first use and folded when the runtime is closed.
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
        restore_lock: Callable[[], bool] = lambda: False,
    ) -> None:
        self.root = root
        self._restore_lock = restore_lock
        self.configuration = configuration
        self.audit = AuditLog(root / AUDIT_PLACE, disk)
        self.catalog = Catalog(self._open_store, closer=self._close_store)
        self.indexer = Indexer(
            self._choose_embedder,
            disk,
            open_reranker=self._choose_reranker,
            choose_chat=ChatChooser(lambda: configuration.settings.llm, os.environ),
            in_background=in_background,
        )
        self.keyring = Keyring(
            read_key_uses(root / KEYS_PLACE, disk),
            clock=clock,
            on_ended_key=partial(audit_ended_key, self.audit),
        )
        self._key_saver = KeySaver(self.keyring, configuration, root / KEYS_PLACE, disk)
        self.series = Series()
        self.queue = BackupQueue(
            configuration,
            self.catalog,
            disk,
            audit=self.audit,
            clock=clock,
            in_background=in_background,
        )
        self._backups = Loop("backups", self.queue.work, gives_way=True)
        self.queue.wake = self._backups.wake
        # It only reads: a stop does not wait for it.
        self._audit_checks = Loop(
            "audit-check",
            self.check_audit,
            gives_way=True,
            first_after_s=AUDIT_CHECK_AFTER_S,
            stop_wait_s=0.1,
        )
        self._sampler = Loop("sampler", self._sample, first_after_s=SAMPLE_S)
        self._indexing = Loop("indexer", self.indexer.work, gives_way=True)
        self.indexer.wake = self._indexing.wake
        self.proposals = ProposalWorker(
            self.catalog,
            self.indexer,
            clock=clock,
            is_on=lambda: in_background and configuration.settings.llm.proposals,
        )
        # A model that hangs must not delay the stop; its late answer is dropped.
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

    def gate(self, commands: tuple[Command, ...] = COMMANDS) -> Gate:
        """Return the gate through which commands use this runtime."""
        return Gate(
            Context(
                self.configuration,
                self.catalog,
                self.indexer,
                audit=self.audit,
                series=self.series,
                clock=self._clock,
                commands=commands,
                keyring=self.keyring,
                parts=(self.queue, Extractor()),
            )
        )

    @property
    def is_watching(self) -> bool:
        """Say whether hand edits are noticed by the watcher, and not only by the poll."""
        return self._watcher.is_alive

    def start(self) -> None:
        """Register every project, and apply later changes of the configuration."""
        self.configuration.subscribe(self._apply)
        self._apply(self.configuration.settings)

    def load(self) -> None:
        """Start to load and maintain stores in the background."""
        if self._in_background and not self._is_closed:
            self._is_loading = True
            self.catalog.load()
            self._settings_keeper.start()
            self.start_indexing()
            self._jobs.start()
            self._sampler.start()
            self._audit_checks.start()
            self._backups.start()
            self._proposing.start()
            self._key_saver.start()

    def finish_moves(self) -> None:
        """Finish moves that a crash interrupted; stores without such moves are not opened."""
        settings = self.configuration.settings
        for project in self.catalog.projects:
            try:
                folder = settings.store_folder(self.root, settings.endpoints[project])
                if (folder / OWN_FOLDER / MOVES_FILE).exists():
                    finish_moves(self.catalog.get(project), self.catalog, settings)
            except QmsError as error:
                log.warning("move not finished", extra={"project": project, "reason": str(error)})

    def start_indexing(self) -> None:
        """Start to build and update indexes in the background, also for a command on files."""
        self._indexing.start()

    def admit_owner(self) -> None:
        """Write a key for the machine's owner, valid until the runtime is closed."""
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
            self._audit_checks.stop()
            self._backups.stop()
            self._key_saver.stop()
        self._indexing.stop()
        self.catalog.close()
        self._watcher.stop()
        self.audit.close()

    def _apply(self, settings: Settings) -> None:
        """Open, close and reopen stores as the settings ask."""
        if self._is_closed:
            return
        self._disk.rights = rights_of(settings.global_.group)
        os.umask(self._disk.rights.umask)
        self._disk.file_megabytes = settings.global_.limits.file_megabytes
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
                misplaced.append(project)  # opening it fails with the reason, for this store only
        self.catalog.enqueue([*by_last_use(folders), *misplaced])
        if self._is_loading:
            self.catalog.load()

    def _open_store(self, project: str) -> MemoryStore:
        settings = self.configuration.settings
        endpoint = settings.find_endpoint(project)
        if endpoint is None:
            raise NotFoundError(f"no project {project}", project=project)
        folder = settings.store_folder(self.root, endpoint)
        self._disk.confine(folder, settings.storage_folder(self.root), self.root)
        store = MemoryStore.open(
            folder,
            project,
            disk=self._disk,
            options=StoreOptions(limits=settings.global_.limits, feature_files=FEATURE_FILES),
            backup_root=settings.backup_folder(self.root),
            clock=self._clock,
        )
        with ExitStack() as undo:
            undo.callback(store.close)
            self._audit(store)
            self.indexer.add(store, folder / "indexes")
            if self._in_background:
                self._keep(store, folder)
            undo.pop_all()
        return store

    def _audit(self, store: MemoryStore) -> None:
        project = store.project
        self.audit.opened(project, store.view.sequence)
        store.before_cut(partial(self.audit.complete, project))
        store.subscribe(partial(self.audit.append, project))
        try:
            self.audit.complete(project, store.uncut())
        except OSError as error:
            # The audit log has reported it; the journal is not cut before it succeeds.
            log.debug("audit not completed yet", extra={"project": project, "errno": error.errno})

    def _keep(self, store: MemoryStore, folder: Path) -> None:
        keeper = Keeper(store, KeeperOptions())
        store.subscribe(lambda _sequence, _changes: keeper.wake())
        self._kept[store.project] = _Kept(keeper, folder)
        # After it is registered, so that no change of the settings is missed.
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
        self.indexer.drop(store.project)

    def _settle(self, store: MemoryStore) -> None:
        try:
            settle(store, self.configuration.settings.global_.retention, self._clock())
        except QmsError as error:
            log.warning("uses not settled", extra={"project": store.project, "reason": str(error)})

    def check_audit(self) -> float:
        """Verify the audit log, so that health reports damage; return when to do it again."""
        if self.audit.verify() is not None:
            self.audit.verify()  # the first may have met a line that was being written
        if self.audit.fault is not None:
            log.warning("audit log damaged", extra={"reason": self.audit.fault})
        return AUDIT_CHECK_EVERY_S

    def _sample(self) -> float:
        if self._restore_lock():
            log.warning("removed root lock restored", extra={"root": self.root})
        stores = {
            project: StoreFigures(
                entries=len(store.view),
                embedding_backlog=self.indexer.backlog(project),
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
        from qms.models.cross_encoder import open_reranker  # needs numpy: only after the port opens

        settings = self.configuration.settings.global_
        folders = model_folders(self.root)
        return open_reranker(settings.reranker.model, folders, threads=settings.embedding.threads)


class OpenRoot(msgspec.Struct, frozen=True):
    """A root that this process owns; `first_key` is the admin's key after a first run."""

    runtime: Runtime
    lock: RootLock
    first_key: str | None
    umask: int
    """The umask that the process had before."""

    def announce(self, url: str) -> None:
        """Write the owner's URL into the lock, for processes that find the root locked."""
        self.runtime.admit_owner()
        announce(self.lock, url)

    def close(self) -> None:
        """Close the runtime and release the root."""
        try:
            self.runtime.close()
        finally:
            self.lock.release()
            os.umask(self.umask)


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

    Without `loads`, background work starts with `runtime.load`. Without `makes_admin`, a first run
    creates no admin; a later run creates one and shows the key.

    Raises:
        ConflictError: another process owns the root; the message names it.
        InvalidInputError: the configuration is not valid; `details` has the field and the line.
        StorageFullError, OSError: the root cannot be written.
    """
    prepare_types()
    with ExitStack() as undo:
        umask = os.umask(Rights().umask)
        undo.callback(os.umask, umask)
        lock = claim_root(root, clock, command=command, is_written=disk.takes_writes)
        undo.callback(lock.release)
        is_new = not (root / CONFIGURATION_NAME).exists()
        configuration = Configuration(root / CONFIGURATION_NAME, disk, clock)
        first_key = configuration.load(makes_admin=makes_admin and disk.takes_writes)
        if is_new:
            _make_empty_files(root, configuration.settings, disk)
        runtime = Runtime(
            root,
            configuration,
            disk=disk,
            clock=clock,
            in_background=in_background,
            restore_lock=lock.restore,
        )
        undo.callback(runtime.close)
        runtime.start()
        if loads:
            runtime.load()
        if not in_background and disk.takes_writes:
            runtime.finish_moves()
        if not disk.takes_writes:
            undo.pop_all()
            return OpenRoot(runtime, lock, first_key, umask)
        # Applied at every start, because a service manager may reset the folder's group.
        for path in (root, *((lock.path.parent, lock.path) if lock.is_new else ())):
            give(path, disk.rights)
        _report_exposed(root, configuration.settings)
        undo.pop_all()
    return OpenRoot(runtime, lock, first_key, umask)


def _report_exposed(root: Path, settings: Settings) -> None:
    if (reason := why_exposed(root, settings)) is not None:
        log.warning("others can read the root", extra={"reason": reason})


def _make_empty_files(root: Path, settings: Settings, disk: Disk) -> None:
    """Create the empty entries file of each project in a new root, ready to edit by hand."""
    for endpoint in settings.endpoints.values():
        folder = settings.store_folder(root, endpoint)
        if not (folder / ENTRIES_NAME).exists():
            disk.make_folder(folder)
            disk.put(folder / ENTRIES_NAME, b"")


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
