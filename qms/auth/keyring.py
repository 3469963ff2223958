"""Authenticates API keys, and limits failed attempts and requests.

Failures are counted per source, so that guessing is slowed down and a valid key from the same
source still works. Requests are counted per key, so that no key starves the others.
"""

import logging
import math
import threading
import time
from collections.abc import Callable
from datetime import datetime

import msgspec

from qms.auth.key_uses import KeyUse
from qms.auth.rate_limit import RateLimit
from qms.config.addresses import is_loopback
from qms.config.api_keys import (
    MAX_KEY_CHARACTERS,
    KeyMatch,
    digest_of,
    hash_key,
    is_same_digest,
)
from qms.config.settings import Settings
from qms.memory.access import LOCAL_USER
from qms.memory.errors import NotAuthenticatedError, QmsError, RateLimitedError

FAILURES_A_MINUTE = 10
MAX_SOURCES = 4096
MAX_AT_ONCE = 1000
"""The largest burst of one key, even when a minute allows more."""

MAX_ENDED_KEYS = 1000
"""At most this many removed keys are remembered, so that their use is noticed."""

NOTED_EVERY_S = 3600.0
"""Least time between two reports of the use of one ended key."""

_LOCAL = KeyMatch(user=LOCAL_USER, key_id=LOCAL_USER)

log = logging.getLogger(__name__)


class EndedKeyUse(msgspec.Struct, frozen=True, kw_only=True):
    """A request with a key that has expired or was removed."""

    user: str
    key_id: str
    reason: str
    at_utc: datetime


def no_valid_key() -> NotAuthenticatedError:
    """Return the same error for a key that is missing, unknown, wrong or expired."""
    return NotAuthenticatedError(
        "a valid key is needed: send Authorization: Bearer <key> or X-Api-Key: <key>"
    )


class Keyring:
    """The keys of one server; any thread may call any method."""

    def __init__(
        self,
        uses: dict[str, KeyUse] | None = None,
        *,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
        on_ended_key: Callable[[EndedKeyUse], None] = lambda _use: None,
    ) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._on_ended_key = on_ended_key
        self._failures = RateLimit(MAX_SOURCES)
        self._requests = RateLimit(MAX_SOURCES)
        self._lock = threading.Lock()
        self._settings: Settings | None = None
        self._uses = dict(uses or {})
        self._ended: dict[str, str] = {}
        self._last_used: dict[str, datetime] = {}
        self._noted_at: dict[str, float] = {}
        self._local_digest: bytes | None = None

    def admit_local(self, key: str) -> None:
        """Accept this key as that of the machine's owner until the process ends."""
        self._local_digest = digest_of(key)

    def is_local(self, who: KeyMatch) -> bool:
        """Say whether it is the key of the machine's owner."""
        return self._local_digest is not None and who == _LOCAL

    def authenticate(self, settings: Settings, key: str | None, source: str) -> KeyMatch:
        """Return the user of a key, and count its use; `source` is the address of the client.

        Raises:
            NotAuthenticatedError: the key is missing or not valid; the error is always the same.
            RateLimitedError: the source failed too often, or the key sends too many requests.
        """
        if settings is not self._settings:
            self.follow(settings)
        now = self._clock()
        found = settings.find_key(key, now) if key else None
        if found is None and key and self._is_local_key(key, source):
            found = _LOCAL
        if found is None:
            raise self._refusal(settings, key, source, now)
        self.count_use(settings, found.key_id)
        return found

    def count_use(self, settings: Settings, key_id: str) -> None:
        """Count a request with a valid key, or with a session that it opened.

        Raises:
            RateLimitedError: the key sends too many requests.
        """
        self._check_rate(key_id, settings.global_.rate.requests_per_minute)
        self._last_used[key_id] = self._clock()

    def last_used(self, key_id: str) -> datetime | None:
        """Return when a key was last used, or None if unknown."""
        known = self._uses.get(key_id)
        return self._last_used.get(key_id) or (known.last_used_utc if known else None)

    def follow(self, settings: Settings) -> None:
        """Update the keys from the configuration, and remember those that were removed."""
        with self._lock:
            now = self._clock().replace(microsecond=0)
            present = {
                record.id: KeyUse(
                    user=name, sha256=record.sha256, last_used_utc=self.last_used(record.id)
                )
                for name, user in settings.users.items()
                for record in user.keys
            }
            gone = [
                (key_id, msgspec.structs.replace(use, ended_utc=use.ended_utc or now))
                for key_id, use in self._uses.items()
                if key_id not in present
            ]
            gone.sort(key=lambda item: item[1].ended_utc or now)
            kept = dict(gone[-MAX_ENDED_KEYS:])
            self._uses = kept | present
            self._ended = {use.sha256: key_id for key_id, use in kept.items()}
            self._settings = settings

    def uses(self) -> dict[str, KeyUse]:
        """Return the uses of all keys, to be saved for the next start."""
        with self._lock:
            return {
                key_id: msgspec.structs.replace(use, last_used_utc=self.last_used(key_id))
                for key_id, use in self._uses.items()
            }

    def _is_local_key(self, key: str, source: str) -> bool:
        """Say whether it is the key of the machine's owner, sent from this machine."""
        known = self._local_digest
        return known is not None and is_loopback(source) and is_same_digest(known, digest_of(key))

    def _check_rate(self, key_id: str, per_minute: int) -> None:
        if not per_minute:
            return
        wait_s = self._requests.take(
            key_id,
            per_minute=per_minute,
            at_once=min(per_minute, MAX_AT_ONCE),
            now_s=self._monotonic(),
        )
        if wait_s:
            raise RateLimitedError(
                f"this key may send {per_minute} requests a minute: wait and try again",
                retryAfterSeconds=math.ceil(wait_s),
            )

    def _refusal(self, settings: Settings, key: str | None, source: str, now: datetime) -> QmsError:
        """Return the error for a request without a valid key."""
        if not key:
            return no_valid_key()
        self._notice_ended(settings, key, now)
        wait_s = self._failures.take(
            source,
            per_minute=FAILURES_A_MINUTE,
            at_once=FAILURES_A_MINUTE,
            now_s=self._monotonic(),
        )
        if wait_s:
            return RateLimitedError(
                "too many wrong keys from this address: wait, or send a valid key",
                retryAfterSeconds=math.ceil(wait_s),
            )
        return no_valid_key()

    def _notice_ended(self, settings: Settings, key: str, now: datetime) -> None:
        # Done for every key that fails, so that timing does not reveal which ones were valid once.
        expired = settings.find_record(key)
        gone = self._ended.get(hash_key(key)) if len(key) <= MAX_KEY_CHARACTERS else None
        if expired is not None:
            self._note(expired.user, expired.record.id, "expired", now)
        elif gone is not None:
            self._note(self._uses[gone].user, gone, "revoked", now)

    def _note(self, user: str, key_id: str, reason: str, now: datetime) -> None:
        moment = self._monotonic()
        if moment - self._noted_at.get(key_id, -math.inf) < NOTED_EVERY_S:
            return
        self._noted_at[key_id] = moment
        log.warning("ended key used", extra={"user": user, "keyId": key_id, "reason": reason})
        self._on_ended_key(EndedKeyUse(user=user, key_id=key_id, reason=reason, at_utc=now))
