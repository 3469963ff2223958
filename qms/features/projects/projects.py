"""Projects: create, change, rename, and remove with the files kept."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.configuration_edit import Change, Changed, edit_configuration
from qms.commands.requests import Conditions, NoArguments, Request, Response
from qms.config import toml_file
from qms.config.convert import Place
from qms.config.paths import resolved
from qms.config.settings import Endpoint, SecretsPolicy, fold_slug
from qms.memory.errors import ConflictError, NotAllowedError, UnavailableError, invalid
from qms.store.options import StoreStatus


class ProjectItem(Response, frozen=True):
    """A project with its settings; its status only when the caller may see its entries."""

    slug: str
    settings: Endpoint
    permissions: dict[str, str]
    is_open: bool
    """Whether the caller may see the entries."""
    store: StoreStatus | None


class ProjectList(Response, frozen=True):
    """Every project."""

    items: list[ProjectItem]
    version: str


class ProjectSettings(Request, frozen=True):
    """The settings of a project; null restores the default."""

    name: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    include_shared: bool | UnsetType | None = UNSET
    private: bool | UnsetType | None = UNSET
    toolsets: list[str] | UnsetType | None = UNSET
    default_toolsets: list[str] | UnsetType | None = UNSET
    secrets: SecretsPolicy | UnsetType | None = UNSET
    max_entries: int | UnsetType | None = UNSET
    max_megabytes: int | UnsetType | None = UNSET


class NewSettings(ProjectSettings, frozen=True):
    """The settings of a new project; the folder of its files cannot be changed later."""

    storage_path: str | UnsetType | None = UNSET


class ProjectCreation(Change, frozen=True, kw_only=True):
    """A new project."""

    slug: str
    settings: NewSettings = NewSettings()


class ProjectChange(Change, frozen=True, kw_only=True):
    """New settings for a project."""

    slug: str
    settings: ProjectSettings


class ProjectRename(Change, frozen=True, kw_only=True):
    """Another slug for a project that has no entries."""

    slug: str
    to: str


class ProjectRemoval(Change, Conditions, frozen=True, kw_only=True):
    """The project to remove; `confirm` repeats its slug."""

    slug: str
    confirm: str


class ProjectRemoved(Response, frozen=True):
    """The folder below the root that holds the project's files now; None if it had none."""

    version: str
    kept_in: str | None


@command(
    route="GET /admin/projects",
    help="List projects with their settings, and figures of those that you open",
)
def list_projects(call: Call, _request: NoArguments) -> ProjectList:
    """Return every project, with the status of those that the caller opens."""
    version = call.version
    items = [_item(call, endpoint) for endpoint in call.settings.endpoints.values()]
    return ProjectList(items=items, version=version)


@command(
    route="POST /admin/projects",
    help="Make a project",
    example={"slug": "projA", "settings": {"name": "Project A", "private": True}},
)
def create_project(call: Call, request: ProjectCreation) -> Changed:
    """Create a project with an empty store, or with the entries that are in its folder."""

    def change(text: str) -> str:
        _check_free(text, request.slug)
        return toml_file.set_endpoint(text, request.slug, _values(request.settings))

    version = edit_configuration(
        call,
        change,
        request.if_version,
        op="create",
        target=f"projects/{request.slug}",
        names=_names(request.slug),
    )
    return Changed(version=version)


@command(
    route="PATCH /admin/projects/{slug}",
    help="Change settings of a project; null goes back to the default",
    example={"slug": "projA", "settings": {"maxEntries": 10000}, "ifVersion": EXAMPLE_VERSION},
    idempotent=True,
)
def change_project(call: Call, request: ProjectChange) -> Changed:
    """Change the settings of a project."""
    slug = call.find_project(request.slug).slug
    version = edit_configuration(
        call,
        lambda text: toml_file.set_endpoint(text, slug, _values(request.settings)),
        request.if_version,
        op="update",
        target=f"projects/{slug}",
        names=_names(slug),
    )
    return Changed(version=version)


@command(
    route="POST /admin/projects/{slug}/rename",
    help="Give a project without entries another slug",
    example={"slug": "projA", "to": "projB", "ifVersion": EXAMPLE_VERSION},
)
def rename_project(call: Call, request: ProjectRename) -> Changed:
    """Change the slug of a project without entries.

    The slug is part of every id, of relations from other projects, and of the addresses that
    agents use: with entries a rename would break them. The display name can always be changed.
    """
    endpoint = call.find_project(request.slug)
    if not call.opens(endpoint.slug):
        raise NotAllowedError(
            f"{endpoint.slug} is private and this user is not in its permissions, so its slug"
            " cannot be changed; add the user to its permissions first",
            project=endpoint.slug,
        )
    if len(call.context.catalog.get(endpoint.slug).view):
        raise ConflictError(
            f"{endpoint.slug} has entries, and their ids contain its slug: change its name instead,"
            " or move the entries to a new project",
            project=endpoint.slug,
        )

    def change(text: str) -> str:
        if fold_slug(request.to) != fold_slug(endpoint.slug):
            _check_free(text, request.to)
        return toml_file.rename_endpoint(text, endpoint.slug, request.to)

    version = edit_configuration(
        call,
        change,
        request.if_version,
        op="update",
        target=f"projects/{endpoint.slug} to {request.to}",
        names={("endpoint", request.to, "slug"): "to"},
    )
    return Changed(version=version)


@command(
    route="DELETE /admin/projects/{slug}",
    help="Take a project away; its files move to the backups",
    example={"slug": "projA", "confirm": "projA", "ifVersion": EXAMPLE_VERSION},
)
def remove_project(call: Call, request: ProjectRemoval) -> ProjectRemoved:
    """Remove a project from the configuration and move its folder to the backups."""
    endpoint = call.find_project(request.slug)
    if request.confirm != endpoint.slug:
        raise invalid("confirm", f"must be {endpoint.slug}, the project to remove")
    root = call.context.configuration.root
    folder = call.settings.store_folder(root, endpoint)
    backups = call.settings.backup_folder(root)
    version = edit_configuration(
        call,
        lambda text: toml_file.remove_endpoint(text, endpoint.slug),
        request.if_version,
        op="remove",
        target=f"projects/{endpoint.slug}",
    )
    # The store is closed: its last fold is done when the edit returns.
    kept = _move_aside(call, folder, backups / f"{_stamp(call.now)}-removed", endpoint.slug)
    return ProjectRemoved(version=version, kept_in=None if kept is None else _below(kept, root))


def _move_aside(call: Call, folder: Path, place: Path, slug: str) -> Path | None:
    if not folder.exists():
        return None
    disk = call.context.disk
    try:
        disk.make_folder(place)
        disk.rename(folder, place / slug)
    except OSError:
        # Another file system, or a full one: a rename in the same folder still works.
        aside = folder.with_name(f"{folder.name}.{place.name}")
        try:
            disk.rename(folder, aside)
        except OSError as error:
            raise UnavailableError(
                f"project {slug} is removed, but its files could not be moved"
                f" ({error.strerror or type(error).__name__}): they are still in their folder"
            ) from error
        return aside
    return place / slug


def _check_free(text: str, slug: str) -> None:
    if toml_file.parse(text)[0].find_endpoint(slug) is not None:
        raise ConflictError(f"there is a project {slug[:64]!r} already", project=slug[:64])


def _names(slug: str) -> dict[Place, str]:
    """Return the request's names of a project's settings and slug."""
    return {("endpoint", slug, "slug"): "slug", ("endpoint", slug): "settings"}


def _values(settings: NewSettings | ProjectSettings) -> dict[str, Any]:
    """Return the given values by their TOML names; None restores the default."""
    given: dict[str, Any] = msgspec.to_builtins(settings)
    return given


def _item(call: Call, endpoint: Endpoint) -> ProjectItem:
    is_open = call.opens(endpoint.slug)
    store = call.context.catalog.loaded(endpoint.slug) if is_open else None
    listed = call.settings.permissions.get(endpoint.slug, {})
    return ProjectItem(
        slug=endpoint.slug,
        settings=endpoint,
        permissions={user: access.label for user, access in listed.items()},
        is_open=is_open,
        store=store.status() if store else None,
    )


def _stamp(now: datetime) -> str:
    return now.strftime("%Y%m%dT%H%M%S%fZ")


def _below(path: Path, root: Path) -> str:
    """Return a path relative to the root, or its name if it is outside."""
    inside, target = resolved(root), resolved(path)
    if target.is_relative_to(inside):
        return target.relative_to(inside).as_posix()
    return target.name
