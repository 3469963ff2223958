"""`memoryctl permissions`: list and change the tiers of users in projects."""

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.target import Asked, Session, open_session
from qms.cli.users import TIERS, report_change
from qms.memory.errors import NotFoundError


@click.group()
def permissions() -> None:
    """List and change the permissions of users in a project."""


@permissions.command("list", cls=Verb, example="memoryctl permissions list --project projA")
@shared_options
def list_permissions(asked: Asked) -> None:
    """List the tier of each user in a project, or in all projects without --project."""
    with open_session(asked) as session:
        slugs = [asked.project] if asked.project else _slugs(session)
        found = {slug: session.administer("getPermissions", endpoint=slug) for slug in slugs}
    if asked.as_json:
        output.answer(found[asked.project] if asked.project else found)
        return
    rows = [
        [slug, one["user"], one["tier"], one["listed"] or ""]
        for slug, answer in found.items()
        for one in answer["items"]
    ]
    output.table(("PROJECT", "USER", "TIER", "LISTED AS"), rows, flexible=1)
    for slug, answer in found.items():
        if answer["private"]:
            output.note(f"{slug} is private: only listed users have access")


@permissions.command("set", cls=Verb, example="memoryctl permissions set alice curator")
@click.argument("user", metavar="USER")
@click.argument("tier", type=TIERS)
@shared_options
def set_permission(asked: Asked, user: str, tier: str) -> None:
    """Set the tier of a user in the project, above or below its own; none denies access."""
    with open_session(asked) as session:
        version, listed = _listed(session)
        answer = _put(session, {**listed, user: tier}, version)
        message = f"{user} now has tier {tier} in {session.project}"
    report_change(asked, answer, message)


@permissions.command(cls=Verb, example="memoryctl permissions remove alice --project projA")
@click.argument("user", metavar="USER")
@shared_options
def remove(asked: Asked, user: str) -> None:
    """Remove a user from the project's list; its own tier applies again."""
    with open_session(asked) as session:
        version, listed = _listed(session)
        if listed.pop(user, None) is None:
            raise NotFoundError(f"{user} is not listed in {session.project}", user=user)
        answer = _put(session, listed, version)
        message = f"{user} is no longer listed in {session.project}"
    report_change(asked, answer, message)


def _slugs(session: Session) -> list[str]:
    return [one["slug"] for one in session.administer("listProjects")["items"]]


def _listed(session: Session) -> tuple[str, dict[str, str]]:
    answer = session.administer("getPermissions", endpoint=session.project)
    listed = {one["user"]: one["listed"] for one in answer["items"] if one["listed"] is not None}
    return answer["version"], listed


def _put(session: Session, listed: dict[str, str], version: str) -> dict[str, object]:
    answer: dict[str, object] = session.administer(
        "setPermissions", endpoint=session.project, permissions=listed, ifVersion=version
    )
    return answer
