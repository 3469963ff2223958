"""`memoryctl backup` and `memoryctl backups`: make backups, trust them, go back to them."""

import time
from datetime import datetime
from typing import Any

import click

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.moments import moment_option, wire_text
from qms.cli.progress import Progress
from qms.cli.removing import is_wanted, removal_options
from qms.cli.target import Asked, Session, open_session
from qms.domain.errors import NotFoundError, invalid
from qms.upkeep.backups import PRE_RESTORE

_FAILED = 1
_LATEST = "latest"
_PAUSE_S = 0.2
_MODES = click.Choice(["full", "differential"])
_UNDER_WAY = ("queued", "running")

Item = dict[str, Any]


@click.command(cls=Verb, example="memoryctl backup default --mode full --wait")
@click.option("--all", "everything", is_flag=True, help="Of all projects.")
@click.option("--mode", type=_MODES, default="differential", show_default=True, help="How much.")
@click.option("--wait", is_flag=True, help="Until it is made.")
@click.argument("named", metavar="[PROJECT]", required=False)
@shared_options
def backup(asked: Asked, named: str | None, everything: bool, mode: str, wait: bool) -> None:
    """Make a backup; the first of a project is full, whatever is asked for."""
    if everything and named is not None:
        raise invalid("all", f"means all projects: name {named}, or none")
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
@shared_options
def list_backups(asked: Asked) -> None:
    """List backups, oldest first, of one project or of all."""
    with open_session(asked) as session:
        answer = session.administer("listBackups", project=asked.project)
    if asked.as_json:
        output.answer(answer)
        return
    if answer["items"]:
        head = ("PROJECT", "ID", "MODE", "ENTRIES", "BYTES", "PROBLEM")
        output.table(head, [_row(item) for item in answer["items"]], flexible=5)
    else:
        output.note("there are no backups")
    for job in answer["jobs"]:
        if job["state"] in _UNDER_WAY:
            output.note(f"{job['project']}: {job['id']}: {_state(job)}")
    if answer["nextRunUtc"]:
        output.note(f"next run: {answer['nextRunUtc']}")


@backups.command(cls=Verb, example="memoryctl backups verify 20260301T030000000000Z")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@shared_options
def verify(asked: Asked, ids: tuple[str, ...]) -> None:
    """Rebuild stores from backups in a scratch folder and compare; exit code 1 when one is bad."""
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
@click.option("--id", "backup_id", metavar="ID|latest", help="To this backup, or the latest.")
@moment_option("--at", "at", is_past=True, help="To this moment; 2h means hours ago.")
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
    """Bring a project back to a backup or a moment; what is there is kept as a backup."""
    if (backup_id is None) == (at is None):
        raise invalid("id", "is required, or --at with a moment in its place")
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
            output.note(f"restored; what was there is kept as {answer['keptAs']}")
    if asked.as_json:
        output.answer(answer)


@backups.command(cls=Verb, example="memoryctl backups prune --keep 7 --dry-run")
@click.option("--keep", type=click.IntRange(1, 10_000), help="How many; else as configured.")
@removal_options
@shared_options
def prune(asked: Asked, keep: int | None, dry_run: bool, yes: bool) -> None:
    """Take backups away that are beyond retention and that no other needs."""
    wanted = {"project": asked.project, "keep": keep}
    with open_session(asked) as session:
        answer = session.administer("pruneBackups", dryRun=True, **wanted)
        count = sum(map(len, answer["pruned"].values()))
        for slug, ids in answer["pruned"].items():
            for backup_id in ids:
                output.note(f"{slug} {backup_id}")
        if not count:
            answer = {**answer, "dryRun": dry_run}
        elif is_wanted(f"remove {count} backups", dry_run=dry_run, yes=yes):
            answer = session.administer("pruneBackups", **wanted)
    if asked.as_json:
        output.answer(answer)
    elif not count:
        output.note("nothing to prune")


def _awaited(session: Session, ordered: list[Item]) -> list[Item]:
    """Show how far backups are until all of them are made or have failed."""
    progress = Progress()
    try:
        while True:
            listed = session.administer("listBackups")
            jobs = [_present(job, listed) for job in ordered]
            for job in jobs:
                if job["state"] == "running":
                    progress.show(job["project"], job["done"], max(job["total"], 1))
            if not any(job["state"] in _UNDER_WAY for job in jobs):
                return jobs
            time.sleep(_PAUSE_S)
    finally:
        progress.end()


def _present(ordered: Item, listed: Item) -> Item:
    """Return what became of a job; of one that the server has forgotten, its backup tells."""

    def is_it(one: Item) -> bool:
        return bool(one["project"] == ordered["project"] and one["id"] == ordered["id"])

    job: Item | None = next(filter(is_it, listed["jobs"]), None)
    if job is not None:
        return job
    if (made := next(filter(is_it, listed["items"]), None)) is not None and not made["problem"]:
        return {**ordered, "state": "done", "mode": made["mode"]}
    return {**ordered, "state": "failed", "reason": "the server does not know of it any more"}


def _latest(session: Session, slug: str) -> str:
    """Return the last backup that somebody, or the clock, asked for."""
    found = session.administer("listBackups", project=slug)["items"]
    made = [
        one["id"] for one in found if not one["problem"] and not one["id"].startswith(PRE_RESTORE)
    ]
    if not made:
        raise NotFoundError(f"there is no backup of {slug}", project=slug)
    return str(made[-1])


def _verified(session: Session, item: Item) -> Item:
    answer: Item = session.administer("verifyBackup", project=item["project"], id=item["id"])
    return answer


def _state(job: Item) -> str:
    return f"{job['state']}: {job['reason']}" if job["reason"] else str(job["state"])


def _row(item: Item) -> tuple[str, ...]:
    shown = (item["project"], item["id"], item["mode"], item["entries"], item["bytes"])
    return (*("" if one is None else str(one) for one in shown), item["problem"] or "")


def _show_difference(trial: Item) -> None:
    for what in ("added", "changed", "removed"):
        ids = trial[f"{what}Ids"]
        more = " …" if len(ids) < trial[what] else ""
        output.note(f"{what}: {trial[what]} {' '.join(ids)}{more}".rstrip())
    if not trial["exact"]:
        output.warning("not all writes up to that moment are known: this is the state before")
    if trial["unreadable"]:
        output.warning(f"{trial['unreadable']} lines are no entries and stay in the backup")
