"""`memoryctl users`: who is known to the server, and with which tier."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session
from qms.domain.access import AccessTier
from qms.domain.errors import NotFoundError

TIERS = click.Choice([access.label for access in AccessTier])


@click.group()
def users() -> None:
    """Look after users; what they may do in a project is `permissions`."""


@users.command("list", cls=Verb, example="memoryctl users list")
@shared_options
def list_users(asked: Asked) -> None:
    """List users with their tier and the projects in which they are listed."""
    with open_session(asked) as session:
        answer = session.administer("listUsers")
    if asked.as_json:
        output.answer(answer)
        return
    rows = [
        [
            one["name"],
            one["tier"],
            str(one["keys"]),
            ", ".join(f"{slug}: {tier}" for slug, tier in one["permissions"].items()),
        ]
        for one in answer["items"]
    ]
    output.table(("USER", "TIER", "KEYS", "LISTED IN"), rows, flexible=3)


@users.command(cls=Verb, example="memoryctl users add alice --tier writer")
@click.argument("user", metavar="USER")
@click.option("--tier", type=TIERS, required=True, help="In every project that is not private.")
@shared_options
def add(asked: Asked, user: str, tier: str) -> None:
    """Make a user; `memoryctl keys create` gives it a key."""
    with open_session(asked) as session:
        answer = session.administer("createUser", user=user, tier=tier)
    report_change(asked, answer, f"user {user} made, tier {tier}")


@users.command("set", cls=Verb, example="memoryctl users set alice --tier curator")
@click.argument("user", metavar="USER")
@click.option("--tier", type=TIERS, required=True, help="In every project that is not private.")
@shared_options
def set_user(asked: Asked, user: str, tier: str) -> None:
    """Give a user another tier."""
    with open_session(asked) as session:
        answer = session.administer("changeUser", user=user, tier=tier)
    report_change(asked, answer, f"user {user} has tier {tier} now")


@users.command(cls=Verb, example="memoryctl users remove alice --dry-run")
@click.argument("user", metavar="USER")
@removal_options
@shared_options
def remove(asked: Asked, user: str, dry_run: bool, yes: bool) -> None:
    """Remove a user with all keys and permissions; the last admin stays."""
    with open_session(asked) as session:
        version, keys = _found(session, user)
        what = f"remove user {user} with {keys} working keys"
        if not is_wanted(what, dry_run=dry_run, yes=yes):
            report_change(asked, {"version": version}, "nothing was changed")
            return
        answer = session.administer("removeUser", user=user, ifVersion=version)
    report_change(asked, answer, f"user {user} removed")


def report_change(asked: Asked, answer: dict[str, object], message: str) -> None:
    """Say what was done, or print what the API answered."""
    if asked.as_json:
        output.answer(answer)
    output.note(message)


def _found(session: Session, user: str) -> tuple[str, int]:
    answer = session.administer("listUsers")
    for one in answer["items"]:
        if one["name"] == user:
            return answer["version"], one["keys"]
    raise NotFoundError(f"there is no user {user}", user=user)
