"""`memoryctl keys`: make keys, over HTTP or in the root's own configuration file, list, revoke."""

import time
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.local import now
from qms.cli.moments import moment_option, wire_text
from qms.cli.remote import Remote
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, checked_root, open_session, running_url
from qms.cli.users import report_change
from qms.config.keys import KeyRecord
from qms.config.settings import Settings
from qms.config.toml_file import add_key, set_user
from qms.domain.access import AccessTier
from qms.domain.errors import (
    NotAuthenticatedError,
    NotFoundError,
    RateLimitedError,
    UnavailableError,
    invalid,
)
from qms.fsio.disk import Disk
from qms.runtime.root import CONFIGURATION_NAME
from qms.service.configuration import FIRST_ADMIN, Configuration, key_record, new_key

TAKE_OVER_S = 15.0
"""How long a running server is given to see the new key."""

_PAUSE_S = 0.05
_LABELS = [access.label for access in AccessTier]


class KeyWanted(msgspec.Struct, frozen=True, kw_only=True):
    """A key to be made, the tier that its user gets, and the one that only a new user gets."""

    user: str
    label: str
    access: AccessTier | None = None
    access_if_new: AccessTier | None = None
    expires_utc: datetime | None = None


@click.group()
def keys() -> None:
    """Make, list and revoke keys; a key is shown when it is made, and never again."""


@keys.command(cls=Verb, example="memoryctl keys create alice --tier writer --expires 90d")
@click.argument("user", metavar="USER")
@click.option("--label", default="", metavar="TEXT", help="What the key is for.")
@moment_option(
    "--expires", is_past=False, help="When it ends: 2026-12-31, or 90d from now; else never."
)
@click.option(
    "--tier",
    "label_of_access",
    type=click.Choice(_LABELS),
    help="Of the user; needed for a new one, except admin. One that is there gets it.",
)
@shared_options
def create(
    asked: Asked, user: str, label: str, expires: datetime | None, label_of_access: str | None
) -> None:
    """Make a key for a user and print it, once; without a URL on the files, under a server too.

    So whoever owns the machine can always get in again: memoryctl keys create admin
    """
    access = None if label_of_access is None else AccessTier.from_label(label_of_access)
    if expires is not None and expires <= now():
        raise invalid("expires", "is not in the future")
    wanted = KeyWanted(user=user, access=access, label=label, expires_utc=expires)
    if asked.server_url is not None:
        with open_session(asked) as session:
            tier, made = order_key(session, wanted)
        _show_key(asked, wanted, tier, made)
        return
    root = checked_root(asked)
    output.note(f"on the files in {root}")
    key = new_key()
    record = key_record(key, now(), label=label, expires_utc=expires)
    settings = store_key(root, user, access, record)
    tier = settings.users[user].access.label
    _show_key(asked, wanted, tier, {"id": record.id, "key": key})
    await_server(root, key)


@keys.command("list", cls=Verb, example="memoryctl keys list --user alice")
@click.option("--user", metavar="USER", help="Only this user's.")
@shared_options
def list_keys(asked: Asked, user: str | None) -> None:
    """List keys by their ids; what a key is was shown when it was made, and never again."""
    with open_session(asked) as session:
        answer = session.administer("listKeys", user=user)
    if asked.as_json:
        output.answer(answer)
        return
    rows = [
        [
            one["id"],
            one["user"],
            one["createdUtc"] or "",
            "expired" if one["isExpired"] else one["expiresUtc"] or "never",
            one["label"],
        ]
        for one in answer["items"]
    ]
    output.table(("ID", "USER", "MADE", "EXPIRES", "LABEL"), rows, flexible=4)


@keys.command(cls=Verb, example="memoryctl keys revoke 0f1e2d3c4b5a")
@click.argument("key_id", metavar="ID")
@removal_options
@shared_options
def revoke(asked: Asked, key_id: str, dry_run: bool, yes: bool) -> None:
    """Take a key away, by its id; sessions that began with it end."""
    with open_session(asked) as session:
        found = session.administer("listKeys")
        owners = {one["id"]: one["user"] for one in found["items"]}
        if key_id not in owners:
            raise NotFoundError(f"there is no key {key_id}", id=key_id)
        what = f"revoke key {key_id} of {owners[key_id]}"
        if not is_wanted(what, dry_run=dry_run, yes=yes):
            report_change(asked, {"version": found["version"]}, "nothing was changed")
            return
        answer = session.administer("revokeKey", id=key_id, ifVersion=found["version"])
    report_change(asked, answer, f"key {key_id} of {owners[key_id]} revoked")


def _show_key(asked: Asked, wanted: KeyWanted, tier: str, made: dict[str, Any]) -> None:
    if asked.as_json:
        output.answer(made)
    else:
        output.line(made["key"])
    ends = f", until {wire_text(wanted.expires_utc)}" if wanted.expires_utc else ""
    output.note(f"key {made['id']} of {wanted.user}, tier {tier}{ends}; it is not shown again")


def order_key(session: Session, wanted: KeyWanted) -> tuple[str, dict[str, Any]]:
    """Have a server make a key, for a user who is made when needed; return its tier and the key.

    Raises:
        QmsError: the caller is no admin, or there is no such user and no tier.
    """
    users = session.administer("listUsers")["items"]
    present = {one["name"]: one["tier"] for one in users}.get(wanted.user)
    tier = present if wanted.access is None else wanted.access.label
    if tier is None:
        tier = (wanted.access_if_new or _access_of_new(wanted.user)).label
    if tier != present:
        change = "createUser" if present is None else "changeUser"
        session.administer(change, user=wanted.user, tier=tier)
    ends = None if wanted.expires_utc is None else wire_text(wanted.expires_utc)
    made = session.administer("createKey", user=wanted.user, label=wanted.label, expiresUtc=ends)
    return tier, made


def store_key(root: Path, user: str, access: AccessTier | None, record: KeyRecord) -> Settings:
    """Write a key into the configuration file, for a user who gets a tier when one is given.

    Raises:
        QmsError: there is no such user and no tier, or the file cannot be used.
    """
    configuration = Configuration(root / CONFIGURATION_NAME, Disk(), now)
    try:
        first_key = configuration.load()
        if first_key is not None:
            output.note(f"admin key: {first_key}")

        def change(text: str) -> str:
            wanted = access if access is not None else _usual_access(configuration, user)
            if wanted is not None:
                text = set_user(text, user, wanted)
            return add_key(text, user, record)

        return configuration.edit(change)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnavailableError(f"{configuration.path} cannot be used: {reason}") from error


def _usual_access(configuration: Configuration, user: str) -> AccessTier | None:
    """Return the tier to set when none was given: for a new admin only."""
    return None if user in configuration.settings.users else _access_of_new(user)


def _access_of_new(user: str) -> AccessTier:
    if user == FIRST_ADMIN:
        return AccessTier.ADMIN
    error = invalid("tier", f"there is no user {user} yet: pass --tier to make one")
    error.add_note(f"tiers are {', '.join(_LABELS)}")
    raise error


def await_server(root: Path, key: str) -> None:
    """Return when the server that owns the root, if any, takes the key."""
    if (url := running_url(root)) is None:
        return
    deadline = time.monotonic() + TAKE_OVER_S
    try:
        while not _takes(url, key):
            if time.monotonic() > deadline:
                output.warning(f"the server at {url} does not take the key yet: see its health")
                return
            time.sleep(_PAUSE_S)
    except UnavailableError as error:
        output.warning(error.message)
        return
    output.note(f"the server at {url} takes it")


def _takes(url: str, key: str) -> bool:
    remote = Remote(url, key)
    try:
        remote.projects()
    except (NotAuthenticatedError, RateLimitedError):
        return False  # a key that is known would not be counted among the wrong ones
    finally:
        remote.close()
    return True
