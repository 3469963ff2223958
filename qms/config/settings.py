"""What can be configured: every setting with its default and its range, as frozen values.

The names and defaults are those of `docs/configuration.md`. A `Settings` value is valid by
construction: `qms.config.decode` is the only maker, and checks what a type cannot say.
"""

from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec

from qms.config.addresses import ListenAddress, parse_listen
from qms.config.keys import KeyMatch, KeyRecord, StoredKey, find_stored
from qms.config.paths import is_absolute, resolve_inside
from qms.domain.access import LOCAL_ACCESS, LOCAL_USER, AccessTier
from qms.domain.errors import invalid
from qms.domain.lifecycle import RetentionLengths
from qms.domain.limits import Limits

SHARED_SLUG = "shared"
"""The endpoint whose store the others read when they say `includeShared`."""

Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]
Megabytes = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Days = Annotated[int, msgspec.Meta(ge=1, le=3650)]
Kept = Annotated[int, msgspec.Meta(ge=1, le=10_000)]
Threads = Annotated[int, msgspec.Meta(ge=0, le=1024)]
PollSeconds = Annotated[float, msgspec.Meta(ge=0.05, le=3600)]
TimeoutSeconds = Annotated[float, msgspec.Meta(ge=0.1, le=3600)]
Milliseconds = Annotated[int, msgspec.Meta(ge=0, le=60_000)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Label = Annotated[str, msgspec.Meta(max_length=200)]
Description = Annotated[str, msgspec.Meta(max_length=4000)]
Texts = Annotated[tuple[str, ...], msgspec.Meta(max_length=1000)]


def fold_slug(slug: str) -> str:
    """Return what two slugs have in common that differ only in case.

    Slugs are ASCII. Text that is not stays as it is: Unicode would fold `ſ` to `s` and the Kelvin
    sign to `k`, and open a project by a name that it does not have.
    """
    return slug.lower() if slug.isascii() else slug


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class SummaryMethod(StrEnum):
    """Who writes summaries."""

    EXTRACTIVE = "extractive"
    LLM = "llm"


class BackupMode(StrEnum):
    """What an automatic backup holds."""

    DIFFERENTIAL = "differential"
    FULL = "full"


class SecretsPolicy(StrEnum):
    """What happens to an entry that seems to hold a secret."""

    WARN = "warn"
    REDACT = "redact"
    REFUSE = "refuse"


class Toolset(StrEnum):
    """A group of commands that an endpoint can offer."""

    CORE = "core"
    LIFECYCLE = "lifecycle"
    DOCUMENTS = "documents"
    GRAPH = "graph"
    ANALYTICS = "analytics"
    SYSTEM = "system"
    CODE = "code"
    AI_MEMORY = "aiMemory"
    SERVER_MEMORY = "serverMemory"


DROP_IN_TOOLSETS = frozenset({Toolset.AI_MEMORY, Toolset.SERVER_MEMORY})
"""Toolsets for clients of other servers: nobody else need know of them."""


class _Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What every section shares: camelCase keys, each with a default."""


class EmbeddingSettings(_Section, frozen=True):
    """`[global.embedding]`: the model that turns text into vectors."""

    model: Name = "models/embeddings.onnx"
    threads: Threads = 0


class RerankerSettings(_Section, frozen=True):
    """`[global.reranker]`: the optional model that orders the best hits again."""

    model: str = ""


class SummarizerSettings(_Section, frozen=True):
    """`[global.summarizer]`: who writes summaries."""

    model: SummaryMethod = SummaryMethod.EXTRACTIVE


class BackupSettings(_Section, frozen=True):
    """`[global.backup]`: when automatic backups run and how many are kept."""

    cadence: str = "0 3 * * *"
    time_zone: str = "local"
    mode: BackupMode = BackupMode.DIFFERENTIAL
    keep: Kept = 14


class RateSettings(_Section, frozen=True):
    """`[global.rate]`: how much one key may ask for."""

    requests_per_minute: Count = 6000


class GlobalSettings(_Section, frozen=True):
    """`[global]`: the service as a whole."""

    service_name: Name = "QuickMemoryServer"
    listen: Texts = ("http://127.0.0.1:5080",)
    allowed_hosts: Texts = ()
    allowed_origins: Texts = ()
    behind_proxy: bool = False
    tls_certificate: str = ""
    tls_key: str = ""
    storage_root: Name = "MemoryStores"
    backup_root: Name = "Backups"
    log_level: LogLevel = LogLevel.INFO
    log_max_megabytes: Megabytes = 20
    log_max_days: Days = 30
    log_keep: Kept = 5
    poll_seconds: PollSeconds = 5
    debounce_milliseconds: Milliseconds = 150
    embedding: EmbeddingSettings = EmbeddingSettings()
    reranker: RerankerSettings = RerankerSettings()
    summarizer: SummarizerSettings = SummarizerSettings()
    backup: BackupSettings = BackupSettings()
    retention: RetentionLengths = RetentionLengths()
    limits: Limits = Limits()
    rate: RateSettings = RateSettings()

    def addresses(self) -> tuple[ListenAddress, ...]:
        """Return where to listen."""
        return tuple(parse_listen(url) for url in self.listen)


class LlmSettings(_Section, frozen=True):
    """`[llm]`: the optional OpenAI-compatible endpoint."""

    base_url: str = ""
    model: str = ""
    api_key_env: str = ""
    timeout_seconds: TimeoutSeconds = 20
    proposals: bool = True


class Endpoint(_Section, frozen=True):
    """`[endpoint.<slug>]`: one project."""

    slug: str
    name: Label = ""
    description: Description = ""
    storage_path: str = ""
    include_shared: bool = True
    private: bool = False
    toolsets: tuple[Toolset, ...] = (Toolset.CORE, Toolset.LIFECYCLE)
    default_toolsets: tuple[Toolset, ...] = (Toolset.CORE,)
    secrets: SecretsPolicy = SecretsPolicy.WARN
    max_entries: Count = 0
    max_megabytes: Count = 0

    @property
    def title(self) -> str:
        """Return what people call the project."""
        return self.name or self.slug

    @property
    def folder(self) -> str:
        """Return the folder of the store as configured: relative to `storageRoot`, or absolute."""
        return self.storage_path or self.slug


class User(_Section, frozen=True):
    """`[users.<name>]`: a person or an agent, and the keys it may use."""

    access: AccessTier = msgspec.field(name="tier", default=AccessTier.NONE)
    keys: tuple[KeyRecord, ...] = ()


class Settings(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The whole configuration at one moment."""

    global_: GlobalSettings = msgspec.field(name="global", default_factory=GlobalSettings)
    llm: LlmSettings = LlmSettings()
    endpoints: dict[str, Endpoint] = {}
    users: dict[str, User] = {}
    permissions: dict[str, dict[str, AccessTier]] = {}

    def find_endpoint(self, slug: str) -> Endpoint | None:
        """Return the endpoint with this slug, compared without case."""
        return self.endpoints.get(slug) or self._endpoints_by_fold.get(fold_slug(slug))

    def access(self, user: str, slug: str) -> AccessTier:
        """Return what a user may do in a project; nothing where either is unknown."""
        endpoint, known = self.find_endpoint(slug), self.users.get(user)
        if known is None and user == LOCAL_USER:
            known = User(access=LOCAL_ACCESS)
        if endpoint is None or known is None:
            return AccessTier.NONE
        listed = self.permissions.get(endpoint.slug, {}).get(user)
        if listed is not None:
            return listed
        return AccessTier.NONE if endpoint.private else known.access

    def find_key(self, key: str, now: datetime) -> KeyMatch | None:
        """Return whose unexpired key this is, compared in constant time."""
        found = self.find_record(key)
        if found is None or found.record.is_expired(now):
            return None
        return KeyMatch(user=found.user, key_id=found.record.id)

    def find_record(self, key: str) -> StoredKey | None:
        """Return the record of this key, expired or not."""
        return find_stored(key, self._stored_keys)

    def admins(self, now: datetime) -> list[str]:
        """Return the users who can administer the server: tier admin and a key that works."""
        return [
            name
            for name, user in self.users.items()
            if user.access is AccessTier.ADMIN
            and any(not record.is_expired(now) for record in user.keys)
        ]

    def storage_folder(self, root: Path) -> Path:
        """Return the folder that holds the stores.

        Raises:
            InvalidInputError: a symbolic link leads out of the root.
        """
        return _place(root, self.global_.storage_root, "global.storageRoot")

    def store_folder(self, root: Path, endpoint: Endpoint) -> Path:
        """Return the folder of one project's store.

        Raises:
            InvalidInputError: a symbolic link leads out of the storage root.
        """
        base = self.storage_folder(root)
        return _place(base, endpoint.folder, f"endpoint.{endpoint.slug}.storagePath")

    def backup_folder(self, root: Path) -> Path:
        """Return the folder that holds the backups.

        Raises:
            InvalidInputError: a symbolic link leads out of the root.
        """
        return _place(root, self.global_.backup_root, "global.backupRoot")

    @cached_property
    def _endpoints_by_fold(self) -> dict[str, Endpoint]:
        return {fold_slug(slug): endpoint for slug, endpoint in self.endpoints.items()}

    @cached_property
    def _stored_keys(self) -> dict[bytes, StoredKey]:
        return {
            digest: StoredKey(name, record, digest)
            for name, user in self.users.items()
            for record in user.keys
            for digest in (bytes.fromhex(record.sha256),)
        }


def _place(base: Path, text: str, field: str) -> Path:
    if is_absolute(text):
        return Path(text)
    folder = resolve_inside(base, text)
    if folder is None:
        raise invalid(
            field,
            "a symbolic link leads out of its folder: write the absolute path into the TOML",
        )
    return folder
