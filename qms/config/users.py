"""Decodes users, their keys, and their tiers in projects."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from qms.config.api_keys import (
    MAX_KEY_CHARACTERS,
    PLAIN_KEY,
    WEAK_KEY_CHARACTERS,
    KeyRecord,
    hash_key,
    is_sha256,
)
from qms.config.convert import (
    CONTROL,
    Place,
    Remark,
    SettingError,
    Standing,
    as_table,
    to_struct,
    unknown_keys,
)
from qms.config.settings import Endpoint, User, find_name, fold_slug
from qms.memory.access import AUDIT_USERS, LOCAL_USER, AccessTier

UNSEALED_KEY_ID = "apiKey"
"""The id of a plain key that has not been replaced by its hash yet."""

MAX_USER_NAME = 128
"""The longest name that an existing file may have; new names are shorter."""

USER_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}")
USER_NAME_RULE = (
    "is not a valid user name: use a-z, 0-9, '.', '_', '@' and '-', a letter or digit first, at"
    " most 64 characters"
)
AUDIT_NAME_RULE = "is reserved for the audit log: choose another name"

_USER_KEYS = ("tier", "apiKey", "keys")
_TIERS = {tier.label: tier for tier in AccessTier}


def decode_users(data: Mapping[str, Any], remarks: list[Remark]) -> dict[str, User]:
    """Return the users of the table `[users]` by name."""
    users: dict[str, User] = {}
    folded: dict[str, str] = {}
    ids: set[str] = set()
    hashes: set[str] = set()
    for name, value in data.items():
        place = ("users", name)
        _check_user_name(name, place)
        user = _user(as_table(value, place), place, remarks)
        twin = folded.setdefault(fold_slug(name), name)
        if flaw := _name_flaw(name, user, twin):
            remarks.append(Remark(place, flaw, Standing.KEPT))
        for position, record in enumerate(user.keys):
            if record.id in ids and record.id != UNSEALED_KEY_ID:
                raise SettingError((*place, "keys", position, "id"), "two keys have the same id")
            if record.sha256 in hashes:
                raise SettingError(
                    (*place, "keys", position, "sha256"), "the same key is given twice"
                )
            ids.add(record.id)
            hashes.add(record.sha256)
        users[name] = user
    return users


def _check_user_name(name: str, place: Place) -> None:
    if not 1 <= len(name) <= MAX_USER_NAME or CONTROL.search(name) or name != name.strip():
        raise SettingError(
            place,
            f"a user name must have 1 to {MAX_USER_NAME} characters, no control characters, and no"
            " leading or trailing space",
        )


def _name_flaw(name: str, user: User, twin: str) -> str | None:
    """Return why no edit may add a user of this name, although an existing file may have one."""
    if twin != name:
        return f"differs from user {twin} only in case"
    if not USER_NAME.fullmatch(name):
        return USER_NAME_RULE
    # `[users.local]` without a key says what an agent of the machine's owner may do.
    if name in AUDIT_USERS and (name != LOCAL_USER or user.keys):
        return AUDIT_NAME_RULE
    return None


def _user(data: Mapping[str, Any], place: Place, remarks: list[Remark]) -> User:
    remarks.extend(unknown_keys(data, _USER_KEYS, place))
    access = _access(data.get("tier", "none"), (*place, "tier"))
    given = data.get("keys", [])
    if not isinstance(given, list):
        raise SettingError((*place, "keys"), "must be an array of tables")
    records = [
        _key_record(value, (*place, "keys", position), remarks)
        for position, value in enumerate(given)
    ]
    plain = _plain_key(data.get("apiKey", ""), (*place, "apiKey"), remarks)
    if plain and hash_key(plain) not in {record.sha256 for record in records}:
        records.append(KeyRecord(id=UNSEALED_KEY_ID, sha256=hash_key(plain)))
    return User(access=access, keys=tuple(records))


def _key_record(value: Any, place: Place, remarks: list[Remark]) -> KeyRecord:
    table = {name: item for name, item in as_table(value, place).items() if item != ""}
    record = to_struct(table, KeyRecord, place, remarks)
    if not is_sha256(record.sha256):
        raise SettingError((*place, "sha256"), "must be 64 hexadecimal digits")
    if CONTROL.search(record.id):
        raise SettingError((*place, "id"), "may not contain control characters")
    return msgspec.structs.replace(record, sha256=record.sha256.lower())


def _plain_key(value: Any, place: Place, remarks: list[Remark]) -> str:
    if not isinstance(value, str):
        raise SettingError(place, "must be a text")
    if value and (len(value) > MAX_KEY_CHARACTERS or not PLAIN_KEY.fullmatch(value)):
        raise SettingError(
            place,
            f"must be at most {MAX_KEY_CHARACTERS} visible ASCII characters without spaces",
        )
    if 0 < len(value) < WEAK_KEY_CHARACTERS:
        remarks.append(Remark(place, "a short key is easy to guess: let the server create one"))
    return value


def decode_permissions(
    data: Mapping[str, Any],
    endpoints: Mapping[str, Endpoint],
    users: Mapping[str, User],
    remarks: list[Remark],
) -> dict[str, dict[str, AccessTier]]:
    """Return the listed users and their tiers, by the slug as spelled in the endpoint."""
    slugs = {fold_slug(slug): slug for slug in endpoints}
    permissions: dict[str, dict[str, AccessTier]] = {}
    for name, value in data.items():
        place = ("permissions", name)
        slug = slugs.get(fold_slug(name), name)
        if slug == name and name not in endpoints:
            remarks.append(Remark(place, "there is no such endpoint"))
        if slug in permissions:
            raise SettingError(place, "another table names the same endpoint (case is ignored)")
        listed = permissions[slug] = {}
        _list_users(as_table(value, place), place, users, listed=listed, remarks=remarks)
    return permissions


def _list_users(
    table: Mapping[str, Any],
    place: Place,
    users: Mapping[str, User],
    *,
    listed: dict[str, AccessTier],
    remarks: list[Remark],
) -> None:
    """Read the users of one project, each by its name as spelled in `[users]`."""
    for given, label in table.items():
        access = _access(label, (*place, given))
        user = find_name(given, users)
        if user is None and given != LOCAL_USER:
            remarks.append(Remark((*place, given), "there is no such user"))
        if user not in (None, given) and user in table:
            remarks.append(Remark((*place, given), f"ignored: {user} is listed here too"))
        else:
            listed[user or given] = access


def _access(label: Any, place: Place) -> AccessTier:
    if not isinstance(label, str) or label not in _TIERS:
        raise SettingError(place, f"must be one of {', '.join(_TIERS)}")
    return _TIERS[label]
