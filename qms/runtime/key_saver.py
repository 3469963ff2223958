"""The saver of what is known of keys: it writes down now and then when each was last used."""

import logging
from pathlib import Path

from qms.files.audit import AuditLog
from qms.files.audit_chain import AuditedChange, AuditEvent
from qms.files.key_uses import KeyUse, write_key_uses
from qms.fsio.disk import Disk
from qms.runtime.loop import Loop
from qms.service.configuration import Configuration
from qms.service.keyring import EndedKeyUse, Keyring

SAVE_EVERY_S = 60.0

log = logging.getLogger(__name__)


class KeySaver:
    """Saves in the background until it is stopped, and once more then."""

    def __init__(
        self, keyring: Keyring, configuration: Configuration, path: Path, disk: Disk
    ) -> None:
        self._keyring = keyring
        self._configuration = configuration
        self._path = path
        self._disk = disk
        self._saved: dict[str, KeyUse] = {}
        self._loop = Loop("key-saver", self.tick)

    def start(self) -> None:
        """Begin to save."""
        self._loop.start()

    def stop(self) -> None:
        """Save for the last time."""
        self._loop.stop()
        self.tick()

    def tick(self) -> float:
        """Save what is new, and return after how many seconds to do so again."""
        self._keyring.follow(self._configuration.settings)
        uses = self._keyring.uses()
        if uses != self._saved:
            try:
                write_key_uses(self._path, uses, self._disk)
                self._saved = uses
            except OSError as error:
                log.warning("last use of keys not saved", extra={"reason": error.strerror})
        return SAVE_EVERY_S


def audit_ended_key(audit: AuditLog, use: EndedKeyUse) -> None:
    """Write into the audit log that somebody sent a key that works no more."""
    change = AuditedChange(op=f"refuse {use.reason}", id=f"key:{use.key_id}")
    event = AuditEvent(
        at_utc=use.at_utc,
        user=use.user,
        key_id=use.key_id,
        command="authenticate",
        changes=(change,),
    )
    audit.note(event)
