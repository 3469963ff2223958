"""`memoryctl projects`: list, add, change, rename and remove projects."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import Columns, calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.target import Asked, open_session
from qms.cli.users import report_change
from qms.config.settings import SecretsPolicy, Toolset
from qms.memory.errors import NotFoundError, invalid

_TOOLSETS = click.Choice([toolset.value for toolset in Toolset])
_SECRETS = click.Choice([policy.value for policy in SecretsPolicy])


@click.group()
def projects() -> None:
    """Manage projects; each is an endpoint with its own store."""


def _settings_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--name", metavar="TEXT", help="Display name."),
        click.option("--description", metavar="TEXT", help="Description."),
        click.option("--private/--no-private", default=None, help="Only listed users have access."),
        click.option(
            "--include-shared/--no-include-shared",
            "includeShared",
            default=None,
            help="Whether searches include the shared store.",
        ),
        click.option(
            "--toolset",
            "toolsets",
            type=_TOOLSETS,
            multiple=True,
            help="Toolset that clients may use.",
        ),
        click.option(
            "--default-toolset",
            "defaultToolsets",
            type=_TOOLSETS,
            multiple=True,
            help="Toolset for clients that request none.",
        ),
        click.option("--secrets", type=_SECRETS, help="What to do with texts that hold secrets."),
        click.option("--max-entries", "maxEntries", type=int, help="Quota; 0 is unlimited."),
        click.option("--max-megabytes", "maxMegabytes", type=int, help="Quota; 0 is unlimited."),
    )
    for option in reversed(options):
        function = option(function)
    return function


_PROJECTS = Columns(
    {
        "PROJECT": "slug",
        "PRIVATE": lambda one: "private" if one["settings"]["private"] else "",
        "ENTRIES": lambda one: one["store"] and one["store"]["entries"],
        "NAME": lambda one: one["settings"]["name"],
    },
    flexible=3,
)


@projects.command("list", cls=Verb, example="memoryctl projects list")
@calls("listProjects", _PROJECTS)
def list_projects() -> None:
    """List projects with their settings, and the number of entries of those you can access."""


@projects.command(cls=Verb, example='memoryctl projects add website --name "Our website"')
@click.argument("slug", metavar="SLUG")
@click.option(
    "--storage-path", "storagePath", metavar="DIR", help="Its folder, relative to the storage root."
)
@_settings_options
@calls("createProject", says="project {slug} created", asks=lambda given: _settings(**given))
def add() -> None:
    """Create a project."""


@projects.command("set", cls=Verb, example="memoryctl projects set website --max-entries 50000")
@click.argument("slug", metavar="SLUG")
@_settings_options
@calls("changeProject", says="project {slug} changed", asks=lambda given: _changed(**given))
def set_project() -> None:
    """Change the settings of a project."""


@projects.command(cls=Verb, example="memoryctl projects rename websiet website")
@click.argument("slug", metavar="SLUG")
@click.argument("to", metavar="NEW_SLUG")
@calls("renameProject", says="project {slug} renamed to {to}")
def rename() -> None:
    """Change the slug of a project without entries; `set --name` works for every project."""


@projects.command(cls=Verb, example="memoryctl projects remove website --dry-run")
@click.argument("slug", metavar="SLUG")
@removal_options
@shared_options
def remove(asked: Asked, slug: str, dry_run: bool, yes: bool) -> None:
    """Remove a project; its files move to the backup folder."""
    with open_session(asked) as session:
        found = session.administer("listProjects")
        names = {one["slug"].lower(): one["slug"] for one in found["items"]}
        if (known := names.get(slug.lower())) is None:
            raise NotFoundError(f"there is no project {slug}", project=slug)
        what = f"remove project {known} and move its files to the backup folder"
        if not is_wanted(what, dry_run=dry_run, yes=yes):
            unchanged = {"version": found["version"], "keptIn": None}
            report_change(asked, unchanged, "nothing was changed")
            return
        answer = session.administer(
            "removeProject", slug=known, confirm=known, ifVersion=found["version"]
        )
    kept = answer["keptIn"]
    report_change(asked, answer, f"project {known} removed" + (f", kept in {kept}" if kept else ""))


def _settings(slug: str, **settings: Any) -> dict[str, Any]:
    """Return the request for the settings that were passed."""
    given = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in settings.items()
        if value not in (None, ())
    }
    return {"slug": slug, "settings": given}


def _changed(slug: str, **settings: Any) -> dict[str, Any]:
    request = _settings(slug, **settings)
    if not request["settings"]:
        raise invalid("settings", "nothing to change: pass an option, as in --name")
    return request
