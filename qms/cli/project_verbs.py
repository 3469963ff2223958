"""`memoryctl projects`: make, change, rename and take away projects."""

from collections.abc import Callable
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, open_session
from qms.cli.users import report_change
from qms.config.settings import SecretsPolicy, Toolset
from qms.domain.errors import NotFoundError, invalid

_TOOLSETS = click.Choice([toolset.value for toolset in Toolset])
_SECRETS = click.Choice([policy.value for policy in SecretsPolicy])


@click.group()
def projects() -> None:
    """Look after projects: each is an endpoint with a store of its own."""


def _settings_options(function: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--name", metavar="TEXT", help="What people call it."),
        click.option("--description", metavar="TEXT", help="What it is about."),
        click.option("--private/--no-private", default=None, help="Only for users listed in it."),
        click.option(
            "--include-shared/--no-include-shared",
            "includeShared",
            default=None,
            help="Whether searches read the shared store, too.",
        ),
        click.option(
            "--toolset", "toolsets", type=_TOOLSETS, multiple=True, help="What clients may ask for."
        ),
        click.option(
            "--default-toolset",
            "defaultToolsets",
            type=_TOOLSETS,
            multiple=True,
            help="What clients get that ask for none.",
        ),
        click.option("--secrets", type=_SECRETS, help="What becomes of texts that hold secrets."),
        click.option("--max-entries", "maxEntries", type=int, help="Quota; 0 is none."),
        click.option("--max-megabytes", "maxMegabytes", type=int, help="Quota; 0 is none."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@projects.command("list", cls=Verb, example="memoryctl projects list")
@shared_options
def list_projects(asked: Asked) -> None:
    """List projects with their settings, and the figures of those that you may open."""
    with open_session(asked) as session:
        answer = session.administer("listProjects")
    if asked.as_json:
        output.answer(answer)
        return
    rows = [
        [
            one["slug"],
            "private" if one["settings"]["private"] else "",
            str(one["store"]["entries"]) if one["store"] else "",
            one["settings"]["name"],
        ]
        for one in answer["items"]
    ]
    output.table(("PROJECT", "PRIVATE", "ENTRIES", "NAME"), rows, flexible=3)


@projects.command(cls=Verb, example='memoryctl projects add website --name "Our website"')
@click.argument("slug", metavar="SLUG")
@click.option(
    "--storage-path", "storagePath", metavar="DIR", help="Its folder, from the storage root on."
)
@_settings_options
@shared_options
def add(asked: Asked, slug: str, **settings: Any) -> None:
    """Make a project."""
    with open_session(asked) as session:
        answer = session.administer("createProject", slug=slug, settings=_given(settings))
    report_change(asked, answer, f"project {slug} made")


@projects.command("set", cls=Verb, example="memoryctl projects set website --max-entries 50000")
@click.argument("slug", metavar="SLUG")
@_settings_options
@shared_options
def set_project(asked: Asked, slug: str, **settings: Any) -> None:
    """Change settings of a project."""
    given = _given(settings)
    if not given:
        raise invalid("settings", "nothing to change was given")
    with open_session(asked) as session:
        answer = session.administer("changeProject", slug=slug, settings=given)
    report_change(asked, answer, f"project {slug} changed")


@projects.command(cls=Verb, example="memoryctl projects rename websiet website")
@click.argument("slug", metavar="SLUG")
@click.argument("to", metavar="NEW_SLUG")
@shared_options
def rename(asked: Asked, slug: str, to: str) -> None:
    """Give a project without entries another slug; `set --name` works on every project."""
    with open_session(asked) as session:
        answer = session.administer("renameProject", slug=slug, to=to)
    report_change(asked, answer, f"project {slug} is {to} now")


@projects.command(cls=Verb, example="memoryctl projects remove website --dry-run")
@click.argument("slug", metavar="SLUG")
@removal_options
@shared_options
def remove(asked: Asked, slug: str, dry_run: bool, yes: bool) -> None:
    """Take a project away; its files move to the backups."""
    with open_session(asked) as session:
        found = session.administer("listProjects")
        names = {one["slug"].lower(): one["slug"] for one in found["items"]}
        if (known := names.get(slug.lower())) is None:
            raise NotFoundError(f"there is no project {slug}", project=slug)
        what = f"remove project {known} and move its files to the backups"
        if not is_wanted(what, dry_run=dry_run, yes=yes):
            unchanged = {"version": found["version"], "keptIn": None}
            report_change(asked, unchanged, "nothing was changed")
            return
        answer = session.administer(
            "removeProject", slug=known, confirm=known, ifVersion=found["version"]
        )
    kept = answer["keptIn"]
    report_change(asked, answer, f"project {known} removed" + (f", kept in {kept}" if kept else ""))


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that stood on the line."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in settings.items()
        if value not in (None, ())
    }
