"""Users of the server, each with a tier: list, create, change and remove."""

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Change, Changed, TextChange, edit_configuration
from qms.commands.requests import Conditions, NoArguments, Response
from qms.config import toml_file
from qms.config.convert import Place
from qms.config.settings import User, fold_slug
from qms.config.users import AUDIT_NAME_RULE
from qms.memory.access import AUDIT_USERS, AccessTier
from qms.memory.errors import ConflictError, NotFoundError, invalid

TIERS = tuple(access.label for access in AccessTier)


class UserItem(Response, frozen=True):
    """A user in a list."""

    name: str
    tier: str
    keys: int
    """The number of keys that are not expired."""
    permissions: dict[str, str]
    """The projects in which the user is listed, with the tier there."""
    is_last_admin: bool
    """Whether no other user could administer the server."""


class UserList(Response, frozen=True):
    """Every user."""

    items: list[UserItem]
    version: str


class UserChange(Change, frozen=True, kw_only=True):
    """A user and its tier."""

    user: str
    tier: str


class UserRemoval(Change, Conditions, frozen=True, kw_only=True):
    """The user to remove, with all keys and permissions."""

    user: str


@command(
    route="GET /admin/users",
    help="List users with their tier and the projects in which they are listed",
)
def list_users(call: Call, _request: NoArguments) -> UserList:
    """Return every user with its tier and its permissions."""
    version, admins = call.version, call.settings.admins(call.now)
    items = [
        _item(call, name, user, is_last_admin=admins == [name])
        for name, user in call.settings.users.items()
    ]
    return UserList(items=items, version=version)


@command(
    route="POST /admin/users",
    help="Make a user, who has no key yet",
    example={"user": "alice", "tier": "writer"},
)
def create_user(call: Call, request: UserChange) -> Changed:
    """Create a user, without a key."""
    access = read_tier(request.tier)
    if fold_slug(request.user) in AUDIT_USERS:
        raise invalid("user", AUDIT_NAME_RULE)

    def change(text: str) -> str:
        present = toml_file.parse(text)[0].find_user(request.user)
        if present is not None:
            raise ConflictError(f"there is a user {present} already", user=present)
        return toml_file.set_user(text, request.user, access)

    return _changed(call, change, request, "create")


@command(
    route="PUT /admin/users/{user}",
    help="Give a user another tier",
    example={"user": "alice", "tier": "curator", "ifVersion": EXAMPLE_VERSION},
)
def change_user(call: Call, request: UserChange) -> Changed:
    """Change the tier of a user."""
    access = read_tier(request.tier)

    def change(text: str) -> str:
        if toml_file.parse(text)[0].find_user(request.user) is None:
            raise no_user(request.user)
        return toml_file.set_user(text, request.user, access)

    return _changed(call, change, request, "update")


@command(
    route="DELETE /admin/users/{user}",
    help="Remove a user with all keys and permissions; never the last admin",
    example={"user": "alice", "ifVersion": EXAMPLE_VERSION},
)
def remove_user(call: Call, request: UserRemoval) -> Changed:
    """Remove a user, its keys and its permissions."""
    return _changed(call, lambda text: toml_file.remove_user(text, request.user), request, "remove")


def read_tier(label: str, field: str = "tier") -> AccessTier:
    """Return the tier called `label`.

    Raises:
        InvalidInputError: no tier has that name; the message lists them.
    """
    if label not in TIERS:
        raise invalid(field, f"must be one of {', '.join(TIERS)}")
    return AccessTier.from_label(label)


def no_user(user: str) -> NotFoundError:
    """Return the error for an unknown user."""
    return NotFoundError(f"there is no user {user[:128]!r}", user=user[:128])


def _changed(call: Call, change: TextChange, request: UserChange | UserRemoval, op: str) -> Changed:
    target = f"users/{request.user}"
    names: dict[Place, str] = {("users", request.user): "user"}
    version = edit_configuration(
        call, change, request.if_version, op=op, target=target, names=names
    )
    return Changed(version=version)


def _item(call: Call, name: str, user: User, *, is_last_admin: bool) -> UserItem:
    return UserItem(
        name=name,
        tier=user.access.label,
        keys=sum(not key.is_expired(call.now) for key in user.keys),
        permissions={
            slug: listed[name].label
            for slug, listed in call.settings.permissions.items()
            if name in listed
        },
        is_last_admin=is_last_admin,
    )
