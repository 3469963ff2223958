"""`memoryctl backup` and `backups`: create, list, verify, restore and prune backups."""

import time
from datetime import datetime
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.calls import Columns, calls
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.instants import moment_option, wire_text
from qms.cli.progress import ENTRIES, Progress
from qms.cli.target import Asked, Session, open_session
from qms.cli.wire import PRE_RESTORE
from qms.memory.errors import NotFoundError, invalid

_FAILED = 1
_LATEST = "latest"
_PAUSE_S = 0.2
_MODES = click.Choice(["full", "differential"])
_UNDER_WAY = ("queued", "running")

Item = dict[str, Any]

_BACKUPS = Columns(
    {
        "PROJECT": "project",
        "ID": "id",
        "MODE": "mode",
        "ENTRIES": "entries",
        "BYTES": "bytes",
        "PROBLEM": "problem",
    },
    flexible=5,
    empty="no backups yet",
)


@click.command(cls=Verb, example="memoryctl backup default --mode full --wait")
@click.option("--all", "everything", is_flag=True, help="Back up all projects.")
@click.option("--mode", type=_MODES, default="differential", show_default=True, help="Mode.")
@click.option("--wait", is_flag=True, help="Wait until the backup is finished.")
@click.argument("named", metavar="[PROJECT]", required=False)
@shared_options
def backup(asked: Asked, named: str | None, everything: bool, mode: str, wait: bool) -> None:
    """Create a backup; the first one of a project is always full."""
    if everything and named is not None:
        raise invalid("all", f"cannot be combined with a project: leave out {named} or --all")
    with open_session(asked) as session:
        project = None if everything else named or session.project
        answer = session.administer("orderBackups", project=project, mode=mode)
        jobs = _awaited(session, answer["jobs"]) if wait else answer["jobs"]
    answer = {**answer, "jobs": jobs}
    if asked.as_json:
        output.answer(answer)
    else:
        for job in jobs:
            output.line(f"{job['project']}: {job['mode']} {job['id']}: {_state(job)}")
    for slug, reason in answer["failures"].items():
        output.warning(f"{slug}: {reason}")
    if answer["failures"] or any(job["state"] == "failed" for job in jobs):
        raise click.exceptions.Exit(_FAILED)


@click.group()
def backups() -> None:
    """List, verify, restore and prune backups."""


@backups.command("list", cls=Verb, example="memoryctl backups list --project default")
@calls("listBackups", takes_project=True)
def list_backups(answer: Item) -> None:
    """List the backups of one project or of all, oldest first."""
    _BACKUPS(answer)
    for job in answer["jobs"]:
        if job["state"] in _UNDER_WAY:
            output.note(f"{job['project']}: {job['id']}: {_state(job)}")
    if answer["nextRunUtc"]:
        output.note(f"next run: {answer['nextRunUtc']}")


@backups.command(cls=Verb, example="memoryctl backups verify 20260301T030000000000Z")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@shared_options
def verify(asked: Asked, ids: tuple[str, ...]) -> None:
    """Rebuild stores from backups in a temporary folder and compare; exit code 1 if one is bad."""
    with open_session(asked) as session:
        found = session.administer("listBackups", project=asked.project)["items"]
        wanted = [item for item in found if not ids or item["id"] in ids]
        if missing := [one for one in ids if one not in {item["id"] for item in found}]:
            raise NotFoundError(f"there is no backup {missing[0]}", id=missing[0])
        checks = [_verified(session, item) for item in wanted]
    if asked.as_json:
        output.answer({"items": checks})
    else:
        for check in checks:
            outcome = f"{check['entries']} entries" if check["good"] else f"BAD: {check['problem']}"
            output.line(f"{check['project']} {check['id']}: {outcome}")
    if not all(check["good"] for check in checks):
        raise click.exceptions.Exit(_FAILED)


@backups.command(cls=Verb, example="memoryctl backups restore default --at 2h --dry-run")
@click.option("--id", "backup_id", metavar="ID|latest", help="Restore this backup, or the latest.")
@moment_option("--at", "at", is_past=True, help="Restore this point in time; 2h is 2 hours ago.")
@removal_options
@click.argument("named", metavar="[PROJECT]", required=False)
@shared_options
def restore(
    asked: Asked,
    named: str | None,
    backup_id: str | None,
    at: datetime | None,
    dry_run: bool,
    yes: bool,
) -> None:
    """Restore a project to a backup or a point in time; its current state becomes a backup."""
    if (backup_id is None) == (at is None):
        raise invalid("id", "pass either --id or --at")
    with open_session(asked) as session:
        slug = named or session.project
        if backup_id == _LATEST:
            backup_id = _latest(session, slug)
        target = {"id": backup_id, "at": None if at is None else wire_text(at)}
        trial = session.administer("restoreBackup", project=slug, dryRun=True, **target)
        _show_difference(trial)
        answer = trial
        if is_wanted(f"restore {slug}", dry_run=dry_run, yes=yes):
            answer = session.administer(
                "restoreBackup", project=slug, ifVersion=trial["version"], **target
            )
            output.note(f"restored; the previous state is backup {answer['keptAs']}")
    if asked.as_json:
        output.answer(answer)


@backups.command(cls=Verb, example="memoryctl backups prune --keep 7 --dry-run")
@click.option("--keep", type=click.IntRange(1, 10_000), help="Number to keep [as configured].")
@removal_options
@shared_options
def prune(asked: Asked, keep: int | None, dry_run: bool, yes: bool) -> None:
    """Delete backups beyond retention that no other backup needs."""
    wanted = {"project": asked.project, "keep": keep}
    with open_session(asked) as session:
        answer = session.administer("pruneBackups", dryRun=True, **wanted)
        count = sum(map(len, answer["pruned"].values()))
        for slug, ids in answer["pruned"].items():
            for backup_id in ids:
                output.note(f"{slug} {backup_id}")
        if not count:
            answer = {**answer, "dryRun": dry_run}
        elif is_wanted(f"delete {count} backups", dry_run=dry_run, yes=yes):
            answer = session.administer("pruneBackups", **wanted)
    if asked.as_json:
        output.answer(answer)
    elif not count:
        output.note("nothing to prune")


def _awaited(session: Session, ordered: list[Item]) -> list[Item]:
    """Show the progress of backups until all of them are done or have failed."""
    progress = Progress()
    try:
        while True:
            listed = session.administer("listBackups")
            jobs = [_present(job, listed) for job in ordered]
            for job in jobs:
                if job["state"] == "running":
                    progress.show(job["project"], job["done"], max(job["total"], 1), ENTRIES)
            if not any(job["state"] in _UNDER_WAY for job in jobs):
                return jobs
            time.sleep(_PAUSE_S)
    finally:
        progress.end()


def _present(ordered: Item, listed: Item) -> Item:
    """Return the state of a job; one that the server no longer lists is found by its backup."""

    def is_it(one: Item) -> bool:
        return bool(one["project"] == ordered["project"] and one["id"] == ordered["id"])

    job: Item | None = next(filter(is_it, listed["jobs"]), None)
    if job is not None:
        return job
    if (made := next(filter(is_it, listed["items"]), None)) is not None and not made["problem"]:
        return {**ordered, "state": "done", "mode": made["mode"]}
    return {**ordered, "state": "failed", "reason": "the server no longer lists it"}


def _latest(session: Session, slug: str) -> str:
    """Return the newest backup that was ordered or scheduled."""
    found = session.administer("listBackups", project=slug)["items"]
    made = [
        one["id"] for one in found if not one["problem"] and not one["id"].startswith(PRE_RESTORE)
    ]
    if not made:
        raise NotFoundError(f"no backups of {slug} yet", project=slug)
    return str(made[-1])


def _verified(session: Session, item: Item) -> Item:
    answer: Item = session.administer("verifyBackup", project=item["project"], id=item["id"])
    return answer


def _state(job: Item) -> str:
    return f"{job['state']}: {job['reason']}" if job["reason"] else str(job["state"])


def _show_difference(trial: Item) -> None:
    for what in ("added", "changed", "removed"):
        ids = trial[f"{what}Ids"]
        more = " …" if len(ids) < trial[what] else ""
        output.note(f"{what}: {trial[what]} {' '.join(ids)}{more}".rstrip())
    if not trial["exact"]:
        output.warning("some writes before that time are unknown: this is an earlier state")
    if trial["unreadable"]:
        output.warning(f"{trial['unreadable']} unreadable lines stay in the backup only")
