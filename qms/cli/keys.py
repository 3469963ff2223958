"""`memoryctl keys`: create, list and revoke API keys, over HTTP or in the configuration file."""

from datetime import datetime
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import Columns, calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.instants import moment_option, now, wire_text
from qms.cli.target import Asked, Session, checked_root, open_session
from qms.cli.users import report_change
from qms.cli.wire import FIRST_ADMIN
from qms.config.settings import find_name
from qms.memory.access import AccessTier
from qms.memory.errors import NotFoundError, invalid

_LABELS = [access.label for access in AccessTier]


class KeyWanted(msgspec.Struct, frozen=True, kw_only=True):
    """The key to create, the tier to give its user, and the tier for a new user only."""

    user: str
    label: str
    access: AccessTier | None = None
    access_if_new: AccessTier | None = None
    expires_utc: datetime | None = None


@click.group()
def keys() -> None:
    """Create, list and revoke API keys; a key is shown only once, when it is created."""


@keys.command(cls=Verb, example="memoryctl keys create alice --tier writer --expires 90d")
@click.argument("user", metavar="USER")
@click.option("--label", default="", metavar="TEXT", help="What the key is for.")
@moment_option("--expires", is_past=False, help="Expiry: 2026-12-31, or 90d from now [never].")
@click.option(
    "--tier",
    "label_of_access",
    type=click.Choice(_LABELS),
    help="Tier of the user; required for a new user other than admin.",
)
@shared_options
def create(
    asked: Asked, user: str, label: str, expires: datetime | None, label_of_access: str | None
) -> None:
    """Create a key for a user and print it once.

    Without a URL it works on the configuration file, also while the server runs. So the owner of
    the machine can always get access again: memoryctl keys create admin
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
    _create_in_file(asked, wanted)


_KEYS = Columns(
    {
        "ID": "id",
        "USER": "user",
        "CREATED": "createdUtc",
        "EXPIRES": lambda one: "expired" if one["isExpired"] else one["expiresUtc"] or "never",
        "LABEL": "label",
    },
    flexible=4,
)


@keys.command("list", cls=Verb, example="memoryctl keys list --user alice")
@click.option("--user", metavar="USER", help="Only keys of this user.")
@calls("listKeys", _KEYS)
def list_keys() -> None:
    """List keys by id; the keys themselves cannot be shown again."""


@keys.command(cls=Verb, example="memoryctl keys revoke 0f1e2d3c4b5a")
@click.argument("key_id", metavar="ID")
@removal_options
@shared_options
def revoke(asked: Asked, key_id: str, dry_run: bool, yes: bool) -> None:
    """Revoke a key by its id; sessions that were started with it end."""
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


def _create_in_file(asked: Asked, wanted: KeyWanted) -> None:
    from qms.cli import key_store  # reads and writes the configuration: not needed with a URL

    root = checked_root(asked)
    output.note(f"on the files in {root}")
    made = key_store.create(root, wanted)
    _show_key(asked, wanted, made.tier, {"id": made.id, "key": made.key})
    key_store.await_server(root, made.key)


def _show_key(asked: Asked, wanted: KeyWanted, tier: str, made: dict[str, Any]) -> None:
    if asked.as_json:
        output.answer(made)
    else:
        output.line(made["key"])
    ends = f", until {wire_text(wanted.expires_utc)}" if wanted.expires_utc else ""
    output.note(f"key {made['id']} of {wanted.user}, tier {tier}{ends}; it is not shown again")


def order_key(session: Session, wanted: KeyWanted) -> tuple[str, dict[str, Any]]:
    """Create a key on the server, and its user if missing; return the user's tier and the key.

    Raises:
        QmsError: the caller is no admin, or the user does not exist and no tier was given.
    """
    users = session.administer("listUsers")["items"]
    tiers = {one["name"]: one["tier"] for one in users}
    present = tiers.get(find_name(wanted.user, tiers) or wanted.user)
    tier = present if wanted.access is None else wanted.access.label
    if tier is None:
        tier = (wanted.access_if_new or access_of_new(wanted.user)).label
    if tier != present:
        change = "createUser" if present is None else "changeUser"
        session.administer(change, user=wanted.user, tier=tier)
    ends = None if wanted.expires_utc is None else wire_text(wanted.expires_utc)
    made = session.administer("createKey", user=wanted.user, label=wanted.label, expiresUtc=ends)
    return tier, made


def access_of_new(user: str) -> AccessTier:
    """Return the tier of a user that does not exist and for whom none was given.

    Raises:
        InvalidInputError: it is not the first admin.
    """
    if user == FIRST_ADMIN:
        return AccessTier.ADMIN
    error = invalid("tier", f"user {user} does not exist: pass --tier to create it")
    error.add_note(f"tiers are {', '.join(_LABELS)}")
    raise error
