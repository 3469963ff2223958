"""Keys: made and shown once, listed without their hashes, revoked."""

from datetime import datetime

from qms.config import toml_file
from qms.config.keys import KeyRecord
from qms.domain.errors import NotFoundError, invalid
from qms.domain.relations import AwareTime
from qms.service.admin.calls import AdminCall, Change, Changed
from qms.service.admin.users import no_user
from qms.service.configuration import key_record, new_key
from qms.service.requests import Request, Response

MAX_LABEL = 200


class KeyQuery(Request, frozen=True):
    """Whose keys to list; without a user, everybody's."""

    user: str | None = None


class KeyItem(Response, frozen=True):
    """A key as a list shows it: nothing that it could be guessed or checked with."""

    id: str
    user: str
    label: str
    created_utc: datetime | None
    expires_utc: datetime | None
    is_expired: bool
    last_used_utc: datetime | None


class KeyList(Response, frozen=True):
    """Keys, the oldest first."""

    items: list[KeyItem]
    version: str


class KeyRequest(Change, frozen=True, kw_only=True):
    """A new key for a user."""

    user: str
    label: str = ""
    expires_utc: AwareTime | None = None


class KeyAnswer(Response, frozen=True):
    """A new key: this is the only time that it is shown."""

    id: str
    key: str
    version: str


class KeyRemoval(Change, frozen=True, kw_only=True):
    """The key to revoke."""

    id: str


def list_keys(call: AdminCall, request: KeyQuery) -> KeyList:
    """Return the keys of one user or of all."""
    version, users = call.version, call.settings.users
    if request.user is not None and request.user not in users:
        raise no_user(request.user)
    items = [
        _item(call, name, record)
        for name, user in users.items()
        if request.user in (None, name)
        for record in user.keys
    ]
    return KeyList(items=items, version=version)


def create_key(call: AdminCall, request: KeyRequest) -> KeyAnswer:
    """Make a key for a user that is there."""
    if request.expires_utc is not None and request.expires_utc <= call.now:
        raise invalid("expiresUtc", "is not in the future")
    if len(request.label) > MAX_LABEL:
        raise invalid("label", f"may have {MAX_LABEL} characters", maximum=MAX_LABEL)
    key = new_key()
    record = key_record(key, call.now, label=request.label, expires_utc=request.expires_utc)
    version = call.edit(
        lambda text: toml_file.add_key(text, request.user, record),
        request.if_version,
        op="create",
        target=f"keys/{record.id} of {request.user}",
    )
    return KeyAnswer(id=record.id, key=key, version=version)


def revoke_key(call: AdminCall, request: KeyRemoval) -> Changed:
    """Take a key away; sessions that began with it end."""
    owner = _owner(call, request.id)
    version = call.edit(
        lambda text: toml_file.remove_key(text, owner, request.id),
        request.if_version,
        op="remove",
        target=f"keys/{request.id} of {owner}",
    )
    return Changed(version=version)


def _owner(call: AdminCall, key_id: str) -> str:
    for name, user in call.settings.users.items():
        if any(record.id == key_id for record in user.keys):
            return name
    raise NotFoundError(f"there is no key {key_id[:64]!r}", id=key_id[:64])


def _item(call: AdminCall, user: str, record: KeyRecord) -> KeyItem:
    return KeyItem(
        id=record.id,
        user=user,
        label=record.label,
        created_utc=record.created_utc,
        expires_utc=record.expires_utc,
        is_expired=record.is_expired(call.now),
        last_used_utc=call.last_used(record.id),
    )
