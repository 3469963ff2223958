"""Parses the configuration file to `Settings`, and changes users, keys and projects in its text.

Every change keeps comments, order and unknown keys.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from typing import Any

import msgspec

from qms.config.api_keys import KeyRecord, hash_key
from qms.config.convert import Place, SettingError, Standing
from qms.config.decode import decode
from qms.config.settings import Settings, find_name, fold_slug
from qms.config.toml_text import TomlText
from qms.memory.access import AccessTier
from qms.memory.errors import InvalidInputError, NotFoundError

Values = MutableMapping[str, Any]

# `toml_change` is slow to import, and most starts change nothing: functions that need it import it.

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class SettingsWarning(msgspec.Struct, frozen=True, rename="camel"):
    """A warning about a setting in the file."""

    field: str
    line: int | None
    reason: str
    standing: Standing = Standing.ODD

    def is_same(self, other: "SettingsWarning") -> bool:
        """Say whether both are about the same setting, on whichever line."""
        return (self.field, self.reason) == (other.field, other.reason)

    def as_error(self) -> InvalidInputError:
        """Return the error for an edit that adds this."""
        return _flaw(self.field, self.line, self.reason)


def parse(text: str) -> tuple[Settings, list[SettingsWarning]]:
    """Return the settings of a text, and the warnings about it.

    Raises:
        InvalidInputError: it is not TOML, or a value is wrong; `details` has `field` and `line`.
    """
    toml = TomlText(text)
    try:
        settings, remarks = decode(toml.values())
    except SettingError as error:
        field, line = field_name(error.place), toml.line_of(error.place)
        raise _flaw(field, line, error.reason) from None
    return settings, [
        SettingsWarning(
            field_name(remark.place), toml.line_of(remark.place), remark.reason, remark.standing
        )
        for remark in remarks
    ]


def _flaw(field: str, line: int | None, reason: str) -> InvalidInputError:
    where = f"line {line}: " if line else ""
    return InvalidInputError(f"{where}{field}: {reason}", field=field, line=line)


def field_name(place: Place) -> str:
    """Return a path as the dotted name that errors and warnings use."""
    name = ""
    for step in place:
        if isinstance(step, int):
            name += f"[{step}]"
        else:
            quoted = step if _BARE_KEY.fullmatch(step) else msgspec.json.encode(step).decode()
            name += f".{quoted}" if name else quoted
    return name


def seal_plain_keys(text: str, now: datetime, new_id: Callable[[], str]) -> str | None:
    """Return the text with every plain `apiKey` replaced by its hash, or None if there is none."""
    values = TomlText(text).values()
    plain = _plain_keys(values)
    if not plain:
        return None
    from qms.config.toml_change import array_of, put_all

    # In one rewrite: each rewrite reads the whole file, and there may be a hundred users.
    hashed: dict[tuple[str, ...], Any] = {}
    for user, key in plain.items():
        hashed["users", user, "apiKey"] = ""
        record = KeyRecord(id=new_id(), sha256=hash_key(key), label="apiKey", created_utc=now)
        if not values["users"][user].get("keys"):
            hashed["users", user, "keys"] = array_of(msgspec.to_builtins(record))
        elif not _has_key(values["users"][user], record.sha256):
            text = add_key(text, user, record)
    return put_all(text, hashed)


def add_key(text: str, user: str, record: KeyRecord) -> str:
    """Return the text with one more key for a user."""
    from qms.config.toml_change import append_table, array_of, change, put

    entry, user = msgspec.to_builtins(record), _spelled(text, user)
    if not _user(TomlText(text).values(), user).get("keys"):
        return put(text, ("users", user, "keys"), array_of(entry))

    def edit(values: Values) -> None:
        keys = _user(values, user)["keys"]
        append_table(keys, entry)

    return change(text, edit)


def remove_key(text: str, user: str, key_id: str) -> str:
    """Return the text without one key of a user.

    Raises:
        NotFoundError: the user has no key with this id.
    """
    from qms.config.toml_change import change

    user = _spelled(text, user)

    def edit(values: Values) -> None:
        keys = _user(values, user).get("keys", [])
        for position, record in enumerate(keys):
            if record.get("id") == key_id:
                del keys[position]
                return
        raise NotFoundError(f"user {user} has no key {key_id}", user=user, id=key_id)

    return change(text, edit)


def set_user(text: str, user: str, access: AccessTier) -> str:
    """Return the text with a user of this tier; an existing user keeps its keys."""
    from qms.config.toml_change import put

    return put(text, ("users", _spelled(text, user), "tier"), access.label)


def remove_user(text: str, user: str) -> str:
    """Return the text without a user, its keys and its permissions.

    Raises:
        NotFoundError: there is no such user.
    """
    from qms.config.toml_change import remove

    values, user = TomlText(text).values(), _spelled(text, user)
    _user(values, user)
    for slug, listed in values.get("permissions", {}).items():
        for name in listed:
            if _means(values, name, user):
                text = remove(text, ("permissions", slug, name))
    return remove(text, ("users", user))


def set_permission(text: str, slug: str, user: str, access: AccessTier) -> str:
    """Return the text with a user listed in a project with this tier."""
    from qms.config.toml_change import put

    values, user = TomlText(text).values(), _spelled(text, user)
    permissions = values.get("permissions", {})
    table = _fold_match(permissions, slug) or slug
    name = _listed_name(values, permissions.get(table, {}), user) or user
    return put(text, ("permissions", table, name), access.label)


def remove_permission(text: str, slug: str, user: str) -> str:
    """Return the text with a user no longer listed in a project.

    Raises:
        NotFoundError: the user is not listed there.
    """
    from qms.config.toml_change import remove

    values, user = TomlText(text).values(), _spelled(text, user)
    permissions = values.get("permissions", {})
    table = _fold_match(permissions, slug)
    name = _listed_name(values, permissions[table], user) if table else None
    if table is None or name is None:
        raise NotFoundError(f"user {user} is not listed in project {slug}", user=user, project=slug)
    return remove(text, ("permissions", table, name))


def set_backup(text: str, values: Mapping[str, Any]) -> str:
    """Return the text with changed settings of `[global.backup]`; equal values are not written."""
    from qms.config.toml_change import put

    settings = msgspec.to_builtins(parse(text)[0].global_.backup)
    for key, value in values.items():
        if settings[key] != value:
            text = put(text, ("global", "backup", key), value)
    return text


def set_endpoint(text: str, slug: str, values: Mapping[str, Any]) -> str:
    """Return the text with a project created or changed; None resets a value to its default."""
    from qms.config.toml_change import put, remove

    current = TomlText(text).values()
    name = _endpoint_name(current, slug)
    if name is None:
        given = {key: value for key, value in values.items() if value is not None}
        return put(text, ("endpoint", slug), {"slug": slug, **given})
    for key, value in values.items():
        if value is not None:
            text = put(text, ("endpoint", name, key), value)
        elif key in current["endpoint"][name]:
            text = remove(text, ("endpoint", name, key))
    return text


def rename_endpoint(text: str, slug: str, to: str) -> str:
    """Return the text with a project under another slug; it keeps its folder and permissions.

    Raises:
        NotFoundError: there is no such project.
    """
    from qms.config.toml_change import put, remove

    values = TomlText(text).values()
    name = _endpoint_name(values, slug)
    if name is None:
        raise NotFoundError(f"there is no project {slug}", project=slug)
    table = values["endpoint"][name]
    folder = table.get("storagePath") or table.get("slug", name)
    text = remove(text, ("endpoint", name))
    text = put(text, ("endpoint", to), {**table, "slug": to, "storagePath": folder})
    permissions = values.get("permissions", {})
    listed = _fold_match(permissions, slug)
    if listed is not None:
        text = remove(text, ("permissions", listed))
        text = put(text, ("permissions", to), permissions[listed])
    return text


def remove_endpoint(text: str, slug: str) -> str:
    """Return the text without a project and its permissions; its files are not touched.

    Raises:
        NotFoundError: there is no such project.
    """
    from qms.config.toml_change import remove

    values = TomlText(text).values()
    name = _endpoint_name(values, slug)
    if name is None:
        raise NotFoundError(f"there is no project {slug}", project=slug)
    listed = _fold_match(values.get("permissions", {}), slug)
    if listed is not None:
        text = remove(text, ("permissions", listed))
    return remove(text, ("endpoint", name))


def _user(values: Mapping[str, Any], user: str) -> Values:
    found: Values | None = values.get("users", {}).get(user)
    if found is None:
        raise NotFoundError(f"there is no user {user}", user=user)
    return found


def _spelled(text: str, user: str) -> str:
    """Return a name as spelled in `[users]`, or the name itself when there is no such user."""
    return find_name(user, TomlText(text).values().get("users", {})) or user


def _means(values: Mapping[str, Any], name: str, user: str) -> bool:
    """Say whether a name in a list of permissions is this user's, by the rules of decoding."""
    return (find_name(name, values.get("users", {})) or name) == user


def _listed_name(values: Mapping[str, Any], table: Mapping[str, Any], user: str) -> str | None:
    """Return the name under which a project lists a user; an exact match is preferred."""
    if user in table:
        return user
    return next((name for name in table if _means(values, name, user)), None)


def _endpoint_name(values: Mapping[str, Any], slug: str) -> str | None:
    """Return the name of the table that describes the project."""
    for name, table in values.get("endpoint", {}).items():
        if fold_slug(str(table.get("slug", name))) == fold_slug(slug):
            return str(name)
    return None


def _fold_match(names: Mapping[str, Any], wanted: str) -> str | None:
    return next((name for name in names if fold_slug(name) == fold_slug(wanted)), None)


def _plain_keys(values: Mapping[str, Any]) -> dict[str, str]:
    users = values.get("users", {})
    return {name: user["apiKey"] for name, user in users.items() if user.get("apiKey")}


def _has_key(user: Mapping[str, Any], sha256: str) -> bool:
    return any(record.get("sha256", "").lower() == sha256 for record in user.get("keys", []))
