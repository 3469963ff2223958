"""Permissions: the users that a project lists, each with a tier."""

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Change, Changed, edit_configuration
from qms.commands.requests import Request, Response
from qms.config import toml_file
from qms.features.users.users import read_tier
from qms.memory.access import AccessTier
from qms.memory.errors import invalid


class PermissionQuery(Request, frozen=True):
    """A project."""

    endpoint: str


class PermissionItem(Response, frozen=True):
    """The tier of one user in the project."""

    user: str
    listed: str | None
    """The tier in the project's list, or None when the user is not in it."""
    tier: str
    """The tier in force: the listed one, else the user's own; none in a private project."""


class PermissionList(Response, frozen=True):
    """Every user, listed or not."""

    items: list[PermissionItem]
    private: bool
    version: str


class PermissionChange(Change, frozen=True, kw_only=True):
    """The whole list of a project; users that it leaves out are no longer listed."""

    endpoint: str
    permissions: dict[str, str]


@command(
    route="GET /admin/permissions/{endpoint}",
    help="Say what each user may do in a project, and why",
    example={"endpoint": "projA"},
)
def get_permissions(call: Call, request: PermissionQuery) -> PermissionList:
    """Return each user's tier in a project, and whether the project lists it."""
    version, endpoint = call.version, call.find_project(request.endpoint)
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


@command(
    route="PUT /admin/permissions/{endpoint}",
    help="Replace the list of who may do what in a project",
    example={
        "endpoint": "projA",
        "permissions": {"alice": "curator"},
        "ifVersion": EXAMPLE_VERSION,
    },
)
def set_permissions(call: Call, request: PermissionChange) -> Changed:
    """Replace the permissions of a project."""
    slug = call.find_project(request.endpoint).slug
    wanted = {
        user: read_tier(label, f"permissions.{user}") for user, label in request.permissions.items()
    }
    version = edit_configuration(
        call,
        lambda text: _relisted(text, slug, wanted),
        request.if_version,
        op="update",
        target=f"permissions/{slug}",
    )
    return Changed(version=version)


def _relisted(text: str, slug: str, wanted: dict[str, AccessTier]) -> str:
    settings = toml_file.parse(text)[0]
    listed = settings.permissions.get(slug, {})
    wanted = {settings.find_user(name) or name: access for name, access in wanted.items()}
    for user, access in wanted.items():
        if user not in settings.users and user not in listed:
            raise invalid(f"permissions.{user}", "there is no such user")
        if listed.get(user) != access:
            text = toml_file.set_permission(text, slug, user, access)
    for user in listed:
        if user not in wanted:
            text = toml_file.remove_permission(text, slug, user)
    return text
