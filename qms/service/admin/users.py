"""Users: who is known to the server, with which tier."""

from qms.config import toml_file
from qms.config.convert import Place
from qms.config.settings import User
from qms.domain.access import AccessTier
from qms.domain.errors import ConflictError, NotFoundError, invalid
from qms.service.admin.calls import AdminCall, Change, Changed, TextChange
from qms.service.requests import NoArguments, Response

TIERS = tuple(access.label for access in AccessTier)


class UserItem(Response, frozen=True):
    """A user as a list shows it."""

    name: str
    tier: str
    keys: int
    """How many keys work now."""
    permissions: dict[str, str]
    """The projects in which the user is listed, with the tier there."""
    is_last_admin: bool
    """Whether nobody else could administer the server."""


class UserList(Response, frozen=True):
    """Every user."""

    items: list[UserItem]
    version: str


class UserChange(Change, frozen=True, kw_only=True):
    """A user and its tier."""

    user: str
    tier: str


class UserRemoval(Change, frozen=True, kw_only=True):
    """The user to remove, with all keys and permissions."""

    user: str


def list_users(call: AdminCall, _request: NoArguments) -> UserList:
    """Return every user with its tier and where it is listed."""
    version, admins = call.version, call.settings.admins(call.now)
    items = [
        _item(call, name, user, is_last_admin=admins == [name])
        for name, user in call.settings.users.items()
    ]
    return UserList(items=items, version=version)


def create_user(call: AdminCall, request: UserChange) -> Changed:
    """Make a user; it has no key yet."""
    access = read_tier(request.tier)

    def change(text: str) -> str:
        if request.user in toml_file.parse(text)[0].users:
            raise ConflictError(f"there is a user {request.user} already", user=request.user)
        return toml_file.set_user(text, request.user, access)

    return _changed(call, change, request, "create")


def change_user(call: AdminCall, request: UserChange) -> Changed:
    """Give a user another tier."""
    access = read_tier(request.tier)

    def change(text: str) -> str:
        if request.user not in toml_file.parse(text)[0].users:
            raise no_user(request.user)
        return toml_file.set_user(text, request.user, access)

    return _changed(call, change, request, "update")


def remove_user(call: AdminCall, request: UserRemoval) -> Changed:
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
    """Return the answer for a user that is not there."""
    return NotFoundError(f"there is no user {user[:128]!r}", user=user[:128])


def _changed(
    call: AdminCall, change: TextChange, request: UserChange | UserRemoval, op: str
) -> Changed:
    target = f"users/{request.user}"
    names: dict[Place, str] = {("users", request.user): "user"}
    version = call.edit(change, request.if_version, op=op, target=target, names=names)
    return Changed(version=version)


def _item(call: AdminCall, name: str, user: User, *, is_last_admin: bool) -> UserItem:
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
