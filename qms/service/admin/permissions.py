"""Permissions: who is listed in a project, and with which tier there."""

from qms.config import toml_file
from qms.domain.access import AccessTier
from qms.domain.errors import invalid
from qms.service.admin.calls import AdminCall, Change, Changed
from qms.service.admin.users import read_tier
from qms.service.requests import Request, Response


class PermissionQuery(Request, frozen=True):
    """A project."""

    endpoint: str


class PermissionItem(Response, frozen=True):
    """What one user may do in the project."""

    user: str
    listed: str | None
    """The tier in the project's list, or None when the user is not in it."""
    tier: str
    """What follows: the listed tier, else the user's own, else none in a private project."""


class PermissionList(Response, frozen=True):
    """Every user, listed or not."""

    items: list[PermissionItem]
    private: bool
    version: str


class PermissionChange(Change, frozen=True, kw_only=True):
    """The whole list of a project: who is not in it is no longer listed."""

    endpoint: str
    permissions: dict[str, str]


def get_permissions(call: AdminCall, request: PermissionQuery) -> PermissionList:
    """Return what each user may do in a project, and why."""
    version, endpoint = call.version, call.endpoint(request.endpoint)
    listed = call.settings.permissions.get(endpoint.slug, {})
    names = dict.fromkeys([*call.settings.users, *listed])
    items = [
        PermissionItem(
            user=name,
            listed=listed[name].label if name in listed else None,
            tier=call.settings.access(name, endpoint.slug).label,
        )
        for name in names
    ]
    return PermissionList(items=items, private=endpoint.private, version=version)


def set_permissions(call: AdminCall, request: PermissionChange) -> Changed:
    """Put a new list in the place of a project's."""
    slug = call.endpoint(request.endpoint).slug
    wanted = {
        user: read_tier(label, f"permissions.{user}") for user, label in request.permissions.items()
    }
    version = call.edit(
        lambda text: _relisted(text, slug, wanted),
        request.if_version,
        op="update",
        target=f"permissions/{slug}",
    )
    return Changed(version=version)


def _relisted(text: str, slug: str, wanted: dict[str, AccessTier]) -> str:
    settings = toml_file.parse(text)[0]
    listed = settings.permissions.get(slug, {})
    for user, access in wanted.items():
        if user not in settings.users and user not in listed:
            raise invalid(f"permissions.{user}", "there is no such user")
        if listed.get(user) != access:
            text = toml_file.set_permission(text, slug, user, access)
    for user in listed:
        if user not in wanted:
            text = toml_file.remove_permission(text, slug, user)
    return text
