"""Settings: every setting with its type, default and range, as frozen values.

The names and defaults are those of `docs/configuration.md`. A `Settings` value is valid by
construction: only `qms.config.decode` creates it, and checks what a type cannot express.
"""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated

import msgspec

from qms.config.addresses import ListenAddress, parse_listen
from qms.config.api_keys import KeyMatch, KeyRecord, StoredKey, find_stored
from qms.config.paths import is_absolute, resolve_inside
from qms.memory.access import LOCAL_ACCESS, LOCAL_USER, AccessTier
from qms.memory.errors import invalid
from qms.memory.limits import Limits
from qms.memory.retention import RetentionLengths

SHARED_SLUG = "shared"
"""The endpoint whose store other endpoints read when `includeShared` is true."""

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
    """Return a slug in lower case, for comparison without case.

    Slugs are ASCII. Other text stays as it is: Unicode would fold `ſ` to `s` and the Kelvin sign to
    `k`, and open a project by a name that it does not have.
    """
    return slug.lower() if slug.isascii() else slug


def find_name(name: str, names: Iterable[str]) -> str | None:
    """Return the matching name as spelled in `names`, or None; case is ignored."""
    known = list(names)
    if name in known:
        return name
    return next((one for one in known if fold_slug(one) == fold_slug(name)), None)


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class SummaryMethod(StrEnum):
    """How summaries are made."""

    EXTRACTIVE = "extractive"
    LLM = "llm"


class BackupMode(StrEnum):
    """What an automatic backup contains."""

    DIFFERENTIAL = "differential"
    FULL = "full"


class SecretsPolicy(StrEnum):
    """What happens to an entry that seems to contain a secret."""

    WARN = "warn"
    REDACT = "redact"
    REFUSE = "refuse"


class Toolset(StrEnum):
    """A group of commands that an endpoint can offer; each member has rows in the table."""

    LITE = "lite"
    CORE = "core"
    LIFECYCLE = "lifecycle"
    DOCUMENTS = "documents"
    SYSTEM = "system"
    AI_MEMORY = "aiMemory"
    SERVER_MEMORY = "serverMemory"


UNBUILT_TOOLSETS = frozenset({"graph", "analytics", "code"})
"""Names that earlier versions accepted although no command had them: such a file still loads."""

DROP_IN_TOOLSETS = frozenset({Toolset.AI_MEMORY, Toolset.SERVER_MEMORY})
"""Toolsets for clients of other servers; other clients do not need them."""


class _Section(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What every section shares: camelCase keys, each with a default."""


class EmbeddingSettings(_Section, frozen=True):
    """`[global.embedding]`: the model that turns text into vectors."""

    model: Name = "models/embeddings.onnx"
    threads: Threads = 0


class RerankerSettings(_Section, frozen=True):
    """`[global.reranker]`: the optional model that reranks the best hits."""

    model: str = ""


class SummarizerSettings(_Section, frozen=True):
    """`[global.summarizer]`: how summaries are made."""

    model: SummaryMethod = SummaryMethod.EXTRACTIVE


class BackupSettings(_Section, frozen=True):
    """`[global.backup]`: when automatic backups run and how many are kept."""

    cadence: str = "0 3 * * *"
    time_zone: str = "local"
    mode: BackupMode = BackupMode.DIFFERENTIAL
    keep: Kept = 14


class RateSettings(_Section, frozen=True):
    """`[global.rate]`: the rate limit of one key."""

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
    group: str = ""
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
        """Return the addresses to listen on."""
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
    document_roots: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Return the display name of the project."""
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

    def find_user(self, name: str) -> str | None:
        """Return the user's name as spelled in the file, compared without case."""
        return find_name(name, self.users)

    def access(self, user: str, slug: str) -> AccessTier:
        """Return the tier of a user in a project; none when either is unknown."""
        endpoint = self.find_endpoint(slug)
        return AccessTier.NONE if endpoint is None else self.access_in(user, endpoint)

    def access_in(self, user: str, endpoint: Endpoint) -> AccessTier:
        """Return the tier of a user in this project; none when the user is unknown."""
        known = self.users.get(user)
        if known is None and user == LOCAL_USER:
            known = User(access=LOCAL_ACCESS)
        if known is None:
            return AccessTier.NONE
        listed = self.permissions.get(endpoint.slug, {}).get(user)
        if listed is not None:
            return listed
        return AccessTier.NONE if endpoint.private else known.access

    def find_key(self, key: str, now: datetime) -> KeyMatch | None:
        """Return the user of an unexpired key, compared in constant time."""
        found = self.find_record(key)
        if found is None or found.record.is_expired(now):
            return None
        return KeyMatch(user=found.user, key_id=found.record.id)

    def find_record(self, key: str) -> StoredKey | None:
        """Return the record of this key, expired or not."""
        return find_stored(key, self._stored_keys)

    def admins(self, now: datetime) -> list[str]:
        """Return the users who can administer the server: tier admin and an unexpired key."""
        return [
            name
            for name, user in self.users.items()
            if user.access is AccessTier.ADMIN
            and any(not record.is_expired(now) for record in user.keys)
        ]

    def storage_folder(self, root: Path) -> Path:
        """Return the folder of the stores.

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
        """Return the folder of the backups.

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
