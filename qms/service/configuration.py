"""The one settings value in force, and the only writer of the configuration file.

An invalid edit never replaces the settings in force: they stay, and `error` says what is wrong and
where. Nothing here writes over an edit made by hand: every change starts from the file as it is.
"""

import hashlib
import logging
import os
import secrets
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import msgspec

from qms.config import toml_file
from qms.config.guards import check_confined
from qms.config.keys import KeyRecord, hash_key
from qms.config.settings import Settings
from qms.config.toml_file import SettingsWarning
from qms.domain.access import AccessTier
from qms.domain.errors import ConflictError, InvalidInputError, StorageFullError, UnavailableError
from qms.fsio.disk import READ_ONLY_ERRNOS, Disk
from qms.resources import TEMPLATE_NAME, find_resource

log = logging.getLogger(__name__)

FIRST_ADMIN = "admin"
KEY_PREFIX = "qms_"
_KEY_BYTES = 32
_VERSION_DIGITS = 16
_FILE_MODE = 0o600

Listener = Callable[[Settings], None]


class InvalidEdit(msgspec.Struct, frozen=True, rename="camel"):
    """Why the file as it stands is not in force."""

    reason: str
    field: str | None = None
    line: int | None = None


def new_key() -> str:
    """Return a fresh API key, to be shown once."""
    return KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def new_key_id() -> str:
    """Return the id that a new key is listed and revoked by."""
    return secrets.token_hex(6)


def key_record(
    key: str, now: datetime, *, label: str = "", expires_utc: datetime | None = None
) -> KeyRecord:
    """Return what the file keeps of a new key."""
    return KeyRecord(
        id=new_key_id(),
        sha256=hash_key(key),
        label=label,
        created_utc=now.replace(microsecond=0),
        expires_utc=expires_utc,
    )


def version_of(text: str) -> str:
    """Return the version of a configuration text: what `if_version` is compared with."""
    return hashlib.sha256(text.encode()).hexdigest()[:_VERSION_DIGITS]


class Configuration:
    """The configuration of one root, kept in step with its file."""

    def __init__(self, path: Path, disk: Disk, clock: Callable[[], datetime]) -> None:
        self._path = path
        self._disk = disk
        self._clock = clock
        self._lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._text = ""
        self._settings: Settings | None = None
        self.warnings: tuple[SettingsWarning, ...] = ()
        self.error: InvalidEdit | None = None

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self._path

    @property
    def disk(self) -> Disk:
        """Return what the file is written with."""
        return self._disk

    @property
    def root(self) -> Path:
        """Return the install root: the folder of the file."""
        return self._path.parent

    @property
    def settings(self) -> Settings:
        """Return the settings in force; `load` comes first."""
        assert self._settings is not None, "the configuration is not loaded yet"
        return self._settings

    @property
    def text(self) -> str:
        """Return the text that the settings in force were read from."""
        return self._text

    @property
    def version(self) -> str:
        """Return the version of the text in force."""
        return version_of(self._text)

    def subscribe(self, listener: Listener) -> None:
        """Call `listener` with every new settings value, in order, before its maker goes on."""
        self._listeners.append(listener)

    def load(self, *, makes_admin: bool = True) -> str | None:
        """Read the file, seeding a new root; return the key of the admin that a first run makes.

        Raises:
            InvalidInputError: the file is not valid; `details` has the field and the line.
            StorageFullError: a new root cannot be written.
            UnavailableError: the file cannot be read.
        """
        with self._lock:
            try:
                text = self._read()
            except FileNotFoundError:
                text = find_resource(TEMPLATE_NAME).read_text(encoding="utf-8")
                self._write(text)
            except OSError as error:
                raise self._unreadable(error) from error
            self._restrict_mode()
            self._adopt(text)
            if not makes_admin or any(user.keys for user in self.settings.users.values()):
                return None
            return self._make_first_admin()

    def reload(self) -> bool:
        """Take over an edit made by hand; say whether there was a valid one."""
        with self._lock:
            try:
                text = self._read()
                if text == self._text:
                    self.error = None
                    return False
                self._adopt(text)
            except (InvalidInputError, OSError) as error:
                self._reject(error)
                return False
            self._restrict_mode()
            log.info("configuration reloaded", extra={"version": self.version})
            return True

    def edit(
        self,
        change: Callable[[str], str],
        if_version: str | None = None,
        *,
        confined: bool = False,
    ) -> Settings:
        """Change the file's text and return the new settings, which are in force by then.

        `confined` is for changes that come from outside the machine: no path may leave the root.

        Raises:
            ConflictError: the file has another version than `if_version`, holds an invalid edit,
                is being saved by somebody, or would be left without an administrator.
            InvalidInputError: the change makes the configuration invalid.
            StorageFullError: the file cannot be written; nothing changed.
        """
        with self._lock:
            self._catch_up()
            if if_version is not None and if_version != self.version:
                raise ConflictError(
                    "the configuration was changed meanwhile: read it again",
                    version=self.version,
                )
            before, text = self.settings, change(self._text)
            text = self._sealed(text) or text
            if text == self._text:
                return before
            after, warnings = self._checked(text, confined=confined)
            self._replace(self._text, text)
            self._take(text, after, warnings)
            return after

    def check(self, text: str, *, confined: bool) -> list[SettingsWarning]:
        """Return what is odd about a text that could be put in the place of the one in force.

        Raises:
            ConflictError: it would leave nobody to administer the server.
            InvalidInputError: it is not valid, or a path leaves the root.
        """
        with self._lock:
            return self._checked(text, confined=confined)[1]

    def change(
        self,
        change: Callable[[str], str],
        if_version: str | None = None,
        *,
        confined: bool = False,
    ) -> str:
        """Change the file's text as `edit` does, and return the version that this very edit made.

        Raises:
            QmsError: as `edit`.
        """
        with self._lock:
            self.edit(change, if_version, confined=confined)
            return self.version

    def _checked(self, text: str, *, confined: bool) -> tuple[Settings, list[SettingsWarning]]:
        before = self.settings
        after, warnings = toml_file.parse(text)
        if confined:
            check_confined(before, after, self.root)
        if self._loses_admins(before, after):
            raise ConflictError(
                "this would leave nobody to administer the server: give another user tier admin"
                " and a key first"
            )
        return after, warnings

    def _make_first_admin(self) -> str:
        key, now = new_key(), self._clock()

        def change(text: str) -> str:
            text = toml_file.set_user(text, FIRST_ADMIN, AccessTier.ADMIN)
            return toml_file.add_key(text, FIRST_ADMIN, key_record(key, now, label="first run"))

        self.edit(change)
        return key

    def _catch_up(self) -> None:
        """Take over what the file holds now, so that a change never undoes an edit by hand."""
        try:
            text = self._read()
        except OSError as error:
            raise self._unreadable(error) from error
        except InvalidInputError as error:
            raise self._blocked(error) from error
        if text == self._text:
            return
        try:
            self._adopt(text)
        except InvalidInputError as error:
            raise self._blocked(error) from error

    def _adopt(self, text: str) -> None:
        settings, warnings = toml_file.parse(text)
        if self._settings is not None and self._loses_admins(self._settings, settings):
            # A file seen half-written is often valid TOML; the users are what it lacks.
            raise InvalidInputError(
                "no user with tier admin holds a key any more: is the file complete?",
                field="users",
            )
        self._report(warnings)
        sealed = self._sealed(text)
        if sealed is not None:
            try:
                self._replace(text, sealed)
                text = sealed
                settings, warnings = toml_file.parse(text)
            except (ConflictError, StorageFullError) as error:
                # The key works all the same: `parse` reads a plain key as its hash.
                log.warning("plain keys not replaced yet", extra={"reason": error.message})
        self._take(text, settings, warnings)

    def _report(self, warnings: list[SettingsWarning]) -> None:
        for warning in warnings:
            if warning not in self.warnings:
                log.warning("configuration warning", extra=msgspec.to_builtins(warning))

    def _take(self, text: str, settings: Settings, warnings: list[SettingsWarning]) -> None:
        is_new = settings != self._settings
        # The text last: whoever reads a version, and then the settings, has none older than it.
        self._settings, self.warnings = settings, tuple(warnings)
        self._text = text
        self.error = None
        if is_new:
            for listener in self._listeners:
                listener(settings)

    def _reject(self, error: InvalidInputError | OSError) -> None:
        if isinstance(error, InvalidInputError):
            details = error.details
            found = InvalidEdit(error.message, details.get("field"), details.get("line"))
        else:
            found = InvalidEdit(self._unreadable(error).message)
        if found != self.error:
            log.warning(
                "configuration not reloaded", extra={"line": found.line, "reason": found.reason}
            )
        self.error = found

    def _unreadable(self, error: OSError) -> UnavailableError:
        return UnavailableError(f"{self._path.name} cannot be read: {_brief(error)}")

    def _blocked(self, error: InvalidInputError) -> ConflictError:
        self._reject(error)
        return ConflictError(
            f"{self._path.name} holds an invalid edit ({error.message}): correct it first",
            **error.details,
        )

    def _sealed(self, text: str) -> str | None:
        return toml_file.seal_plain_keys(text, self._clock().replace(microsecond=0), new_key_id)

    def _loses_admins(self, before: Settings, after: Settings) -> bool:
        now = self._clock()
        return bool(before.admins(now)) and not after.admins(now)

    def _read(self) -> str:
        data = self._disk.read(self._path)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise InvalidInputError(
                f"line {line}: the file is not UTF-8: save it with that encoding", line=line
            ) from None

    def _replace(self, seen: str, text: str) -> None:
        """Write `text`, unless somebody has saved the file since it was read as `seen`."""
        try:
            is_same = self._read() == seen
        except (InvalidInputError, OSError):
            is_same = False
        if not is_same:
            raise ConflictError(f"{self._path.name} is being edited by hand: try again")
        self._write(text)

    def _write(self, text: str) -> None:
        # Through a symbolic link, so that a file kept elsewhere stays where it is.
        target = self._path.resolve()
        try:
            self._disk.make_folder(target.parent)
            self._disk.put(target, text.encode(), mode=_FILE_MODE)
        except OSError as error:
            if error.errno not in READ_ONLY_ERRNOS:
                raise
            raise StorageFullError(
                f"{self._path.name} cannot be written: {_brief(error)}"
            ) from error

    def _restrict_mode(self) -> None:
        if os.name == "nt":
            return
        try:
            if self._path.stat().st_mode & 0o077:
                self._path.chmod(_FILE_MODE)
        except OSError as error:
            log.warning("configuration is readable by others", extra={"reason": _brief(error)})


def _brief(error: OSError) -> str:
    return error.strerror or type(error).__name__
