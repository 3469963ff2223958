"""Projects: made, changed, renamed, and taken away with their files kept."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from qms.config import toml_file
from qms.config.convert import Place
from qms.config.paths import resolved
from qms.config.settings import Endpoint, SecretsPolicy, Toolset, fold_slug
from qms.domain.errors import ConflictError, NotAllowedError, UnavailableError, invalid
from qms.service.admin.calls import AdminCall, Change, Changed
from qms.service.requests import NoArguments, Request, Response
from qms.store.options import StoreStatus


class ProjectItem(Response, frozen=True):
    """A project with its settings; its figures only when the caller may see its entries."""

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


class _Settings(Request, frozen=True):
    """What can be set of a project; null goes back to the default."""

    name: str | UnsetType | None = UNSET
    description: str | UnsetType | None = UNSET
    include_shared: bool | UnsetType | None = UNSET
    private: bool | UnsetType | None = UNSET
    toolsets: list[Toolset] | UnsetType | None = UNSET
    default_toolsets: list[Toolset] | UnsetType | None = UNSET
    secrets: SecretsPolicy | UnsetType | None = UNSET
    max_entries: int | UnsetType | None = UNSET
    max_megabytes: int | UnsetType | None = UNSET


class NewSettings(_Settings, frozen=True):
    """What can be set of a new project; where its files lie is settled then."""

    storage_path: str | UnsetType | None = UNSET


class ProjectCreation(Change, frozen=True, kw_only=True):
    """A new project."""

    slug: str
    settings: NewSettings = NewSettings()


class ProjectChange(Change, frozen=True, kw_only=True):
    """Other settings for a project."""

    slug: str
    settings: _Settings


class ProjectRename(Change, frozen=True, kw_only=True):
    """Another slug for a project that has no entries."""

    slug: str
    to: str


class ProjectRemoval(Change, frozen=True, kw_only=True):
    """The project to take away; `confirm` repeats its slug."""

    slug: str
    confirm: str


class ProjectRemoved(Response, frozen=True):
    """Where the files of the project are now, below the root; None when there were none."""

    version: str
    kept_in: str | None


def list_projects(call: AdminCall, _request: NoArguments) -> ProjectList:
    """Return every project, with figures of those that the caller opens."""
    version = call.version
    items = [_item(call, endpoint) for endpoint in call.settings.endpoints.values()]
    return ProjectList(items=items, version=version)


def create_project(call: AdminCall, request: ProjectCreation) -> Changed:
    """Make a project with an empty store, or with the entries that its folder holds already."""

    def change(text: str) -> str:
        _check_free(text, request.slug)
        return toml_file.set_endpoint(text, request.slug, _values(request.settings))

    version = call.edit(
        change,
        request.if_version,
        op="create",
        target=f"projects/{request.slug}",
        names=_names(request.slug),
    )
    return Changed(version=version)


def change_project(call: AdminCall, request: ProjectChange) -> Changed:
    """Change what is set of a project."""
    slug = call.endpoint(request.slug).slug
    version = call.edit(
        lambda text: toml_file.set_endpoint(text, slug, _values(request.settings)),
        request.if_version,
        op="update",
        target=f"projects/{slug}",
        names=_names(slug),
    )
    return Changed(version=version)


def rename_project(call: AdminCall, request: ProjectRename) -> Changed:
    """Give a project without entries another slug.

    The slug is part of every id, of relations to it in other projects, and of what agents were
    told: with entries in it a rename would break them. The name for people can always be changed.
    """
    endpoint = call.endpoint(request.slug)
    if not call.opens(endpoint.slug):
        raise NotAllowedError(
            f"{endpoint.slug} is private and does not list this user: whether it has entries, and"
            " so whether its slug may change, is not told; list the user first",
            project=endpoint.slug,
        )
    if len(call.house.catalog.get(endpoint.slug).view):
        raise ConflictError(
            f"{endpoint.slug} has entries, whose ids carry its slug: change its name instead, or"
            " move the entries to a new project",
            project=endpoint.slug,
        )

    def change(text: str) -> str:
        if fold_slug(request.to) != fold_slug(endpoint.slug):
            _check_free(text, request.to)
        return toml_file.rename_endpoint(text, endpoint.slug, request.to)

    version = call.edit(
        change,
        request.if_version,
        op="update",
        target=f"projects/{endpoint.slug} to {request.to}",
        names={("endpoint", request.to, "slug"): "to"},
    )
    return Changed(version=version)


def remove_project(call: AdminCall, request: ProjectRemoval) -> ProjectRemoved:
    """Take a project out of the configuration and move its folder to the backups."""
    endpoint = call.endpoint(request.slug)
    if request.confirm != endpoint.slug:
        raise invalid("confirm", f"must be {endpoint.slug}, the project to remove")
    root = call.house.configuration.root
    folder = call.settings.store_folder(root, endpoint)
    backups = call.settings.backup_folder(root)
    version = call.edit(
        lambda text: toml_file.remove_endpoint(text, endpoint.slug),
        request.if_version,
        op="remove",
        target=f"projects/{endpoint.slug}",
    )
    # Nobody has the store open any more: its last fold is done when the edit returns.
    kept = _put_away(call, folder, backups / f"{_stamp(call.now)}-removed", endpoint.slug)
    return ProjectRemoved(version=version, kept_in=None if kept is None else _below(kept, root))


def _put_away(call: AdminCall, folder: Path, place: Path, slug: str) -> Path | None:
    if not folder.exists():
        return None
    disk = call.house.disk
    try:
        disk.make_folder(place)
        disk.rename(folder, place / slug)
    except OSError:
        # Another file system, or one that is full: the same folder always takes a new name.
        aside = folder.with_name(f"{folder.name}.{place.name}")
        try:
            disk.rename(folder, aside)
        except OSError as error:
            raise UnavailableError(
                f"{slug} is no project any more, but its files could not be moved"
                f" ({error.strerror or type(error).__name__}): they lie where they were"
            ) from error
        return aside
    return place / slug


def _check_free(text: str, slug: str) -> None:
    if toml_file.parse(text)[0].find_endpoint(slug) is not None:
        raise ConflictError(f"there is a project {slug[:64]!r} already", project=slug[:64])


def _names(slug: str) -> dict[Place, str]:
    """Return what a request calls the settings of a project, and its slug."""
    return {("endpoint", slug, "slug"): "slug", ("endpoint", slug): "settings"}


def _values(settings: NewSettings | _Settings) -> dict[str, Any]:
    """Return what was given, by the names of the TOML; None where the default is asked for."""
    given: dict[str, Any] = msgspec.to_builtins(settings)
    return given


def _item(call: AdminCall, endpoint: Endpoint) -> ProjectItem:
    is_open = call.opens(endpoint.slug)
    store = call.house.catalog.loaded(endpoint.slug) if is_open else None
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
    """Return a path as people find it: from the root on where it lies there."""
    inside, target = resolved(root), resolved(path)
    if target.is_relative_to(inside):
        return target.relative_to(inside).as_posix()
    return target.name
