"""`memoryctl users`: list, add, change and remove users."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import Columns, calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session
from qms.memory.access import AccessTier
from qms.memory.errors import NotFoundError

TIERS = click.Choice([access.label for access in AccessTier])


@click.group()
def users() -> None:
    """Manage users; for their tiers in projects see `permissions`."""


_tier_option = click.option(
    "--tier", type=TIERS, required=True, help="Tier in projects that are not private."
)
_USERS = Columns(
    {
        "USER": "name",
        "TIER": "tier",
        "KEYS": "keys",
        "LISTED IN": lambda one: ", ".join(
            f"{slug}: {tier}" for slug, tier in one["permissions"].items()
        ),
    },
    flexible=3,
)


@users.command("list", cls=Verb, example="memoryctl users list")
@calls("listUsers", _USERS)
def list_users() -> None:
    """List users with their tier and the projects that list them."""


@users.command(cls=Verb, example="memoryctl users add alice --tier writer")
@click.argument("user", metavar="USER")
@_tier_option
@calls("createUser", says="user {user} created, tier {tier}")
def add() -> None:
    """Create a user; `memoryctl keys create` creates its key."""


@users.command("set", cls=Verb, example="memoryctl users set alice --tier curator")
@click.argument("user", metavar="USER")
@_tier_option
@calls("changeUser", says="user {user} now has tier {tier}")
def set_user() -> None:
    """Change the tier of a user."""


@users.command(cls=Verb, example="memoryctl users remove alice --dry-run")
@click.argument("user", metavar="USER")
@removal_options
@shared_options
def remove(asked: Asked, user: str, dry_run: bool, yes: bool) -> None:
    """Remove a user with all keys and permissions; the last admin cannot be removed."""
    with open_session(asked) as session:
        version, keys = _found(session, user)
        what = f"remove user {user} with {keys} valid keys"
        if not is_wanted(what, dry_run=dry_run, yes=yes):
            report_change(asked, {"version": version}, "nothing was changed")
            return
        answer = session.administer("removeUser", user=user, ifVersion=version)
    report_change(asked, answer, f"user {user} removed")


def report_change(asked: Asked, answer: dict[str, object], message: str) -> None:
    """Print a message about a change, and with --json the answer of the API."""
    if asked.as_json:
        output.answer(answer)
    output.note(message)


def _found(session: Session, user: str) -> tuple[str, int]:
    answer = session.administer("listUsers")
    for one in answer["items"]:
        if one["name"] == user:
            return answer["version"], one["keys"]
    raise NotFoundError(f"there is no user {user}", user=user)
