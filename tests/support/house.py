"""A whole house for tests: real configuration, real stores, the real application, a set clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from qms.app.chat_model import ChatChooser
from qms.app.feature_files import FEATURE_FILES
from qms.app.routes import app
from qms.app.table import ADMIN_TABLE, TABLE
from qms.auth.keyring import Keyring
from qms.commands.command import Command
from qms.commands.context import Context
from qms.commands.gate import Gate
from qms.config.configuration import Configuration
from qms.config.settings import Settings, Toolset
from qms.disk.disk import Disk
from qms.features.backups.queue import BackupQueue
from qms.features.documents.extract import Extractor
from qms.index.indexer import Indexer
from qms.mcp.project_servers import Endpoints
from qms.models.choose import Chosen, ChosenReranker, open_embedder
from qms.models.cross_encoder import open_reranker
from qms.store.catalog import Catalog
from qms.store.feature_files import Declared
from qms.store.memory_store import MemoryStore
from qms.store.options import StoreOptions
from qms.telemetry.audit_log import AuditLog
from qms.telemetry.series import Series
from tests.support.asgi import Answer, AsgiClient

USERS = ("reader", "writer", "curator", "admin")

ALL_TOOLSETS = f"toolsets = {msgspec.json.encode(list(Toolset)).decode()}"
"""A line that lets keys call every command of the table."""

CONFIGURATION = f"""\
[global.embedding]
model = "hash"
[global.rate]
requestsPerMinute = 0
[endpoint.shared]
slug = "shared"
{ALL_TOOLSETS}
[endpoint.projA]
slug = "projA"
{ALL_TOOLSETS}
[endpoint.projB]
slug = "projB"
{ALL_TOOLSETS}
includeShared = false
[endpoint.closed]
slug = "closed"
{ALL_TOOLSETS}
private = true
""" + "".join(
    f'[users.{user}]\ntier = "{user}"\napiKey = "qms_key_of_the_{user}_for_tests"\n'
    for user in USERS
)


def key_of(user: str) -> str:
    """Return the key of a user of the test configuration."""
    return f"qms_key_of_the_{user}_for_tests"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        """Return the moment as a clock of durations does."""
        return self.now.timestamp()

    def move(self, **by: float) -> None:
        """Move the clock, back too."""
        self.now += timedelta(**by)


class Failure(msgspec.Struct, frozen=True):
    """A refusal as a client sees it."""

    status: int
    code: str
    message: str
    details: dict[str, Any]


class Door:
    """One user's way into one project of the application."""

    def __init__(self, client: AsgiClient, user: str, project: str = "projA") -> None:
        self._client = client
        self.user = user
        self.project = project

    def at(self, project: str) -> "Door":
        """Return the same user's way into another project."""
        return Door(self._client, self.user, project)

    def send(self, command: str, request: Any) -> Answer:
        """Call a command and return the answer as it is."""
        path = f"/api/v1/{self.project}/{command}"
        return self._client.post(path, request, key=key_of(self.user))

    def __call__(self, command: str, /, **request: Any) -> Any:
        """Call a command that succeeds and return its response."""
        answer = self.send(command, request)
        assert answer.status == 200, answer.body[:500]
        return answer.json

    def fails(self, command: str, /, **request: Any) -> Failure:
        """Call a command that is refused and return why."""
        return failure(self.send(command, request))


def failure(answer: Answer) -> Failure:
    """Return the refusal in an answer, whose body has exactly the one shape of errors."""
    assert answer.status >= 400, answer.body[:500]
    assert set(answer.json) == {"error"}
    error = answer.json["error"]
    assert set(error) == {"code", "message", "details"}
    return Failure(answer.status, error["code"], error["message"], error["details"])


class House:
    """Everything below HTTP, and the application in front of it."""

    def __init__(
        self,
        root: Path,
        clock: Clock,
        *,
        text: str = CONFIGURATION,
        disk: Disk | None = None,
        before_opening: Callable[[str], None] = lambda _project: None,
        commands: tuple[Command, ...] = TABLE,
        feature_files: Declared = FEATURE_FILES,
    ) -> None:
        self.root = root
        self._feature_files = feature_files
        self.clock = clock
        self.disk = disk or Disk()
        self._before_opening = before_opening
        self.toml = root / "QuickMemoryServer.toml"
        self.toml.write_text(text, encoding="utf-8")
        self.configuration = Configuration(self.toml, self.disk, clock)
        self.configuration.load()
        self.catalog = Catalog(self._open, closer=self._close)
        self.catalog.register(self.configuration.settings.endpoints)
        self.indexer = Indexer(
            hash_embedder,
            self.disk,
            open_reranker=self._choose_reranker,
            choose_chat=ChatChooser(lambda: self.configuration.settings.llm, {"CHAT_KEY": "k-1"}),
            in_background=False,
        )
        self.audit = AuditLog(root / "logs" / "audit.jsonl", self.disk)
        self.series = Series()
        self.keyring = Keyring(clock=clock, monotonic=clock.seconds)
        self.queue = BackupQueue(
            self.configuration, self.catalog, self.disk, audit=self.audit, clock=clock
        )
        self.gate = self.gate_of(commands)
        self.configuration.subscribe(self._follow)
        application = app(self.gate)
        self.endpoints: Endpoints = application.endpoints
        self.client = AsgiClient(application)

    def gate_of(self, commands: tuple[Command, ...]) -> Gate:
        """Return the gate in front of these commands."""
        return Gate(
            Context(
                self.configuration,
                self.catalog,
                self.indexer,
                audit=self.audit,
                series=self.series,
                clock=self.clock,
                commands=(*commands, *(row for row in ADMIN_TABLE if row not in commands)),
                keyring=self.keyring,
                parts=(self.queue, Extractor()),
            )
        )

    def door(self, user: str, project: str = "projA") -> Door:
        """Return a user's way in."""
        return Door(self.client, user, project)

    def store(self, project: str = "projA") -> MemoryStore:
        """Return a project's store."""
        return self.catalog.get(project)

    def entries_file(self, project: str = "projA") -> Path:
        """Return the file that people edit."""
        return self.root / "MemoryStores" / project / "entries.jsonl"

    def reconfigure(self, change: Callable[[str], str]) -> None:
        """Edit the TOML by hand and have it read."""
        self.toml.write_text(change(self.toml.read_text(encoding="utf-8")), encoding="utf-8")
        self.configuration.reload()

    def allow(self, *toolsets: str, project: str = "projA") -> None:
        """Have a project allow these toolsets and no others, the first of them by default."""
        slug = f'slug = "{project}"\n'
        allowed = f"toolsets = {msgspec.json.encode(toolsets).decode()}\n"
        default = f"defaultToolsets = {msgspec.json.encode(toolsets[:1]).decode()}\n"
        self.reconfigure(
            lambda text: text.replace(f"{slug}{ALL_TOOLSETS}\n", f"{slug}{allowed}{default}")
        )

    def set_limits(self, **limits: int) -> None:
        """Add `[global.limits]`."""
        lines = "".join(f"{name} = {value}\n" for name, value in limits.items())
        self.reconfigure(lambda text: f"{text}\n[global.limits]\n{lines}")

    def close(self) -> None:
        """Close the stores and the client."""
        self.client.close()
        self.catalog.close()
        self.audit.close()

    def _follow(self, settings: Settings) -> None:
        for project in self.catalog.projects:
            if project not in settings.endpoints:
                self.catalog.remove(project)
        self.catalog.register(settings.endpoints)

    def _choose_reranker(self) -> ChosenReranker:
        return open_reranker(self.configuration.settings.global_.reranker.model, [self.root])

    def _close(self, store: MemoryStore) -> None:
        store.close()
        self.indexer.drop(store.project)

    def _open(self, project: str) -> MemoryStore:
        self._before_opening(project)
        settings = self.configuration.settings
        endpoint = settings.find_endpoint(project)
        assert endpoint is not None
        folder = settings.store_folder(self.root, endpoint)
        folder.mkdir(parents=True, exist_ok=True)
        store = MemoryStore.open(
            folder,
            project,
            disk=self.disk,
            options=StoreOptions(limits=settings.global_.limits, feature_files=self._feature_files),
            backup_root=settings.backup_folder(self.root),
            clock=self.clock,
        )
        store.subscribe(partial(self.audit.append, project))
        self.indexer.add(store, folder / "indexes")
        return store


def hash_embedder() -> Chosen:
    """Return the embedder that needs no model."""
    return open_embedder("hash", [])
