"""Configuration: holds the settings in force, and is the only writer of the configuration file.

An invalid edit never replaces the settings in force: they stay, and `error` says what is wrong and
where. No change overwrites an edit made by hand: every change starts from the current file.
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
from qms.config.api_keys import KeyRecord, hash_key
from qms.config.convert import Standing
from qms.config.exposure import check_confined
from qms.config.local_only import check_outside
from qms.config.settings import Settings
from qms.config.toml_file import SettingsWarning
from qms.disk.disk import READ_ONLY_ERRNOS, Disk
from qms.memory.access import AccessTier
from qms.memory.errors import ConflictError, InvalidInputError, StorageFullError, UnavailableError
from qms.resources import TEMPLATE_NAME, find_resource

log = logging.getLogger(__name__)

FIRST_ADMIN = "admin"
KEY_PREFIX = "qms_"
_KEY_BYTES = 32
_VERSION_DIGITS = 16

Listener = Callable[[Settings], None]


class InvalidEdit(msgspec.Struct, frozen=True, rename="camel"):
    """Why the current file is not in force."""

    reason: str
    field: str | None = None
    line: int | None = None


def new_key() -> str:
    """Return a fresh API key, to be shown once."""
    return KEY_PREFIX + secrets.token_urlsafe(_KEY_BYTES)


def new_key_id() -> str:
    """Return an id for a new key, by which it is listed and revoked."""
    return secrets.token_hex(6)


def key_record(
    key: str, now: datetime, *, label: str = "", expires_utc: datetime | None = None
) -> KeyRecord:
    """Return the record of a new key for the file."""
    return KeyRecord(
        id=new_key_id(),
        sha256=hash_key(key),
        label=label,
        created_utc=now.replace(microsecond=0),
        expires_utc=expires_utc,
    )


def version_of(text: str) -> str:
    """Return the version of a configuration text, which `if_version` is compared with."""
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
        """Return the path of the file."""
        return self._path

    @property
    def disk(self) -> Disk:
        """Return the disk that the file is written with."""
        return self._disk

    @property
    def root(self) -> Path:
        """Return the install root: the folder of the file."""
        return self._path.parent

    @property
    def settings(self) -> Settings:
        """Return the settings in force; call `load` first."""
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
        """Call `listener` with every new settings value, in order, before the change returns."""
        self._listeners.append(listener)

    def load(self, *, makes_admin: bool = True) -> str | None:
        """Read the file, seeding a new root; return the key of the admin that a first run creates.

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
        """Apply an edit made by hand; say whether there was a valid one."""
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
        """Change the file's text and return the new settings, which are then in force.

        `confined` is for changes that come from outside the machine: no path may leave the root,
        and settings that reach outside it stay as they are.

        Raises:
            ConflictError: the file has another version than `if_version`, has an invalid edit, is
                being saved by another program, or would be left without an administrator.
            InvalidInputError: the change makes the configuration invalid.
            StorageFullError: the file cannot be written; nothing changed.
        """
        with self._lock:
            self._catch_up()
            if if_version is not None and if_version != self.version:
                raise ConflictError(
                    "the configuration has changed since you read it: read it again",
                    version=self.version,
                )
            before, text = self.settings, change(self._text)
            text = self._with_hashed_keys(text) or text
            if text == self._text:
                return before
            after, warnings = self._checked(text, confined=confined)
            self._replace(self._text, text)
            self._apply(text, after, warnings)
            return after

    def check(self, text: str, *, confined: bool) -> list[SettingsWarning]:
        """Return the warnings of a text that could replace the one in force.

        Raises:
            ConflictError: it would leave no administrator.
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
        """Change the file's text as `edit` does, and return the version that this edit made.

        Raises:
            QmsError: as `edit`.
        """
        with self._lock:
            self.edit(change, if_version, confined=confined)
            return self.version

    def _checked(self, text: str, *, confined: bool) -> tuple[Settings, list[SettingsWarning]]:
        before = self.settings
        after, warnings = toml_file.parse(text)
        self._check_new(warnings)
        if confined:
            check_confined(before, after, self.root)
            check_outside(self._text, text, self._path.name)
        if self._loses_admins(before, after):
            raise ConflictError(
                "this would leave no administrator: give another user tier admin and a key first"
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
        """Apply the current file, so that a change never undoes an edit by hand."""
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
        if self._settings is not None:
            self._check_new(warnings)
        if self._settings is not None and self._loses_admins(self._settings, settings):
            # A half-written file is often valid TOML that lacks the users.
            raise InvalidInputError(
                "no user with tier admin has a key any more: is the file complete?",
                field="users",
            )
        self._report(warnings)
        hashed = self._with_hashed_keys(text)
        if hashed is not None:
            try:
                self._replace(text, hashed)
                text = hashed
                settings, warnings = toml_file.parse(text)
            except (ConflictError, StorageFullError) as error:
                # The key still works: `parse` reads a plain key as its hash.
                log.warning("plain keys not hashed yet", extra={"reason": error.message})
        self._apply(text, settings, warnings)

    def _check_new(self, warnings: list[SettingsWarning]) -> None:
        """Refuse a new use of something that is accepted only in files of earlier versions."""
        for one in warnings:
            if one.standing is not Standing.ODD and not any(map(one.is_same, self.warnings)):
                raise one.as_error()

    def _report(self, warnings: list[SettingsWarning]) -> None:
        for warning in warnings:
            if warning not in self.warnings:
                log.warning("configuration warning", extra=msgspec.to_builtins(warning))

    def _apply(self, text: str, settings: Settings, warnings: list[SettingsWarning]) -> None:
        is_new = settings != self._settings
        # The text last: a reader of the version and then the settings never gets older settings.
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
            f"{self._path.name} has an invalid edit ({error.message}): correct it first",
            **error.details,
        )

    def _with_hashed_keys(self, text: str) -> str | None:
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
                f"line {line}: the file is not UTF-8: save it as UTF-8", line=line
            ) from None

    def _replace(self, seen: str, text: str) -> None:
        """Write `text`, unless the file has changed since it was read as `seen`."""
        try:
            is_same = self._read() == seen
        except (InvalidInputError, OSError):
            is_same = False
        if not is_same:
            raise ConflictError(f"{self._path.name} is being edited by hand: try again")
        self._write(text)

    def _write(self, text: str) -> None:
        # Follow a symbolic link, so that a file kept elsewhere stays there.
        target = self._path.resolve()
        try:
            self._disk.make_folder(target.parent)
            self._disk.put(target, text.encode())
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
            mode = self._path.stat().st_mode
            if mode & 0o077 & ~self._disk.rights.file_mode:
                self._path.chmod(mode & self._disk.rights.file_mode)
                log.warning("configuration was readable by others, mode restricted")
        except OSError as error:
            log.warning("configuration mode not restricted", extra={"reason": _brief(error)})


def _brief(error: OSError) -> str:
    return error.strerror or type(error).__name__
