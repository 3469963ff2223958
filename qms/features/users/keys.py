"""API keys: create and show once, list without their hashes, revoke."""

from datetime import datetime

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Change, Changed, edit_configuration
from qms.commands.requests import Conditions, Request, Response
from qms.config import toml_file
from qms.config.api_keys import KeyRecord
from qms.config.configuration import key_record, new_key
from qms.features.users.users import no_user
from qms.memory.errors import NotFoundError, invalid
from qms.memory.relations import AwareTime

MAX_LABEL = 200


class KeyQuery(Request, frozen=True):
    """The user whose keys to list; without one, the keys of all users."""

    user: str | None = None


class KeyItem(Response, frozen=True):
    """A key in a list, without the key and its hash."""

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


class KeyRemoval(Change, Conditions, frozen=True, kw_only=True):
    """The key to revoke."""

    id: str


@command(
    route="GET /admin/keys",
    help="List keys, of one user or of all, without what they could be checked with",
    example={"user": "alice"},
)
def list_keys(call: Call, request: KeyQuery) -> KeyList:
    """Return the keys of one user or of all."""
    version, users = call.version, call.settings.users
    wanted = None if request.user is None else call.settings.find_user(request.user)
    if request.user is not None and wanted is None:
        raise no_user(request.user)
    items = [
        _item(call, name, record)
        for name, user in users.items()
        if wanted in (None, name)
        for record in user.keys
    ]
    return KeyList(items=items, version=version)


@command(
    route="POST /admin/keys",
    help="Make a key for a user; it is shown this once",
    example={"user": "alice", "label": "laptop", "expiresUtc": "2030-01-01T00:00:00Z"},
)
def create_key(call: Call, request: KeyRequest) -> KeyAnswer:
    """Create a key for an existing user."""
    if request.expires_utc is not None and request.expires_utc <= call.now:
        raise invalid("expiresUtc", "must be in the future")
    if len(request.label) > MAX_LABEL:
        raise invalid("label", f"may have at most {MAX_LABEL} characters", maximum=MAX_LABEL)
    key = new_key()
    record = key_record(key, call.now, label=request.label, expires_utc=request.expires_utc)
    version = edit_configuration(
        call,
        lambda text: toml_file.add_key(text, request.user, record),
        request.if_version,
        op="create",
        target=f"keys/{record.id} of {request.user}",
    )
    return KeyAnswer(id=record.id, key=key, version=version)


@command(
    route="DELETE /admin/keys/{id}",
    help="Revoke a key, and end the sessions that began with it",
    example={"id": "0f1e2d3c4b5a", "ifVersion": EXAMPLE_VERSION},
)
def revoke_key(call: Call, request: KeyRemoval) -> Changed:
    """Revoke a key and end the sessions that it opened."""
    owner = _owner(call, request.id)
    version = edit_configuration(
        call,
        lambda text: toml_file.remove_key(text, owner, request.id),
        request.if_version,
        op="remove",
        target=f"keys/{request.id} of {owner}",
    )
    return Changed(version=version)


def _owner(call: Call, key_id: str) -> str:
    for name, user in call.settings.users.items():
        if any(record.id == key_id for record in user.keys):
            return name
    raise NotFoundError(f"there is no key {key_id[:64]!r}", id=key_id[:64])


def _item(call: Call, user: str, record: KeyRecord) -> KeyItem:
    return KeyItem(
        id=record.id,
        user=user,
        label=record.label,
        created_utc=record.created_utc,
        expires_utc=record.expires_utc,
        is_expired=record.is_expired(call.now),
        last_used_utc=call.context.keyring.last_used(record.id),
    )
