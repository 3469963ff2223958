"""`memoryctl documents`: add files as documents, keep a folder in sync, list, show and remove."""

import base64
import threading
from pathlib import Path
from typing import Any

import click
import msgspec

from qms.cli import output
from qms.cli.arguments import Verb, shared_options
from qms.cli.confirm import is_wanted, removal_options
from qms.cli.document_folder import Plan, document_id, files_below, plan_sync
from qms.cli.parallel import run_parallel
from qms.cli.progress import Progress
from qms.cli.target import Asked, Session, open_session
from qms.memory.errors import QmsError, invalid

_PAGE = 200


@click.group()
def documents() -> None:
    """Add, sync, list, show and remove documents; the project must allow `documents`."""


@documents.command("add", cls=Verb, example="memoryctl documents add handbook.pdf --tag manual")
@click.argument("paths", metavar="FILE…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--id", "entry_id", metavar="ID", help="Id of the document; for one file only.")
@click.option("--title", metavar="TEXT", help="Title; for one file only.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; may be repeated.")
@click.option("--chunk-size", metavar="N", type=click.IntRange(100, 8_000), help="Default 800.")
@shared_options
def add(
    asked: Asked,
    paths: tuple[Path, ...],
    entry_id: str | None,
    title: str | None,
    tags: tuple[str, ...],
    chunk_size: int | None,
) -> None:
    """Store files as documents; a file that is there already is not stored again."""
    if len(paths) > 1 and (entry_id or title):
        raise invalid("id", "--id and --title are for one file")
    more: dict[str, Any] = {"tags": list(tags)} if tags else {}
    more |= {"title": title} if title else {}
    more |= {"options": {"chunkSize": chunk_size}} if chunk_size else {}
    wanted = []
    for path in paths:
        place = path.resolve().as_posix()
        known = entry_id or document_id("", place)
        wanted.append(_Wanted(path, {"id": known, **more}, {"path": place}))
    with open_session(asked) as session:
        stored = _Stored(len(wanted))
        stored.store(session, wanted)
    _report(asked, wanted, stored)


@documents.command("sync", cls=Verb, example="memoryctl documents sync docs --dry-run")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="A tag for new documents.")
@removal_options
@shared_options
def sync(asked: Asked, folder: Path, tags: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Follow a folder: store new and changed files, remove documents whose file is gone.

    The project itself says what was stored before: a sync that was interrupted goes on.
    """
    name = folder.resolve().name
    with open_session(asked) as session:
        plan = plan_sync(files_below(folder), _stored(session, name))
        output.note(
            f"{len(plan.new)} new, {len(plan.changed)} changed, {len(plan.gone)} gone,"
            f" {plan.unchanged} unchanged"
        )
        if dry_run:
            _show_plan(plan)
            return
        if plan.gone and not is_wanted(
            f"remove {len(plan.gone)} documents whose file is gone", dry_run=False, yes=yes
        ):
            return
        wanted = [
            _Wanted(
                folder / relative,
                {"id": document_id(name, relative), **({"tags": list(tags)} if tags else {})},
                {"path": relative, "folder": name},
            )
            for relative in (*plan.new, *plan.changed)
        ]
        stored = _Stored(len(wanted) + len(plan.gone))
        stored.store(session, wanted)
        stored.remove(session, plan.gone)
    _report(asked, wanted, stored)


@documents.command("list", cls=Verb, example="memoryctl documents list")
@shared_options
def list_documents(asked: Asked) -> None:
    """List the documents of a project, most recently updated first."""
    with open_session(asked) as session:
        found = _all(session, {"kinds": ["document"]})
    if asked.as_json:
        output.answer({"items": found})
        return
    rows = [
        (
            one["id"],
            str(one.get("metadata", {}).get("chunkCount", "")),
            str(one["body"].get("mime", "")),
            one["title"],
        )
        for one in found
    ]
    if rows:
        output.table(("ID", "CHUNKS", "TYPE", "TITLE"), rows, flexible=3)
    else:
        output.note("no documents yet")


@documents.command("show", cls=Verb, example="memoryctl documents show harbour --full")
@click.argument("entry_id", metavar="ID")
@click.option("--full", "is_full", is_flag=True, help="The whole text.")
@click.option("--chunks", "is_chunks", is_flag=True, help="The chunks with page and heading.")
@shared_options
def show(asked: Asked, entry_id: str, is_full: bool, is_chunks: bool) -> None:
    """Show a document: its summary, its text or its chunks."""
    include = "text" if is_full else "chunks" if is_chunks else "meta"
    with open_session(asked) as session:
        answer = _whole(session, entry_id, include)
    if asked.as_json:
        output.answer(answer)
    elif is_full:
        output.text(answer["text"])
    elif is_chunks:
        for one in answer["chunks"]:
            page = f"p. {one['page']}  " if "page" in one else ""
            output.line(f"[{one['ordinal']}] {page}{one.get('heading', '')}")
            output.text(one["text"])
    else:
        output.line(answer["title"])
        output.text(answer["summary"])
        output.note(f"{answer['id']}, {answer['mime']}, {answer['chunkCount']} chunks")


@documents.command("remove", cls=Verb, example="memoryctl documents remove harbour")
@click.argument("ids", metavar="ID…", nargs=-1, required=True)
@removal_options
@shared_options
def remove(asked: Asked, ids: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Move documents and their chunks to the archive."""
    with open_session(asked) as session:
        if not is_wanted(f"archive {len(ids)} documents", dry_run=dry_run, yes=yes):
            return
        for one in ids:
            session.call(session.project_of(one), "deleteEntry", {"id": one})
            output.note(f"{one} removed; it is in the archive")


class _Wanted(msgspec.Struct, frozen=True):
    """A file that becomes a document."""

    path: Path
    request: dict[str, Any]
    metadata: dict[str, Any]


class _Stored:
    """What became of many files, and how far the work is; several threads do it."""

    def __init__(self, total: int) -> None:
        self.answers: dict[Path, Any] = {}
        self.failed: dict[Path, QmsError] = {}
        self._total = total
        self._done = 0
        self._progress = Progress()
        self._lock = threading.Lock()

    def store(self, session: Session, wanted: list[_Wanted]) -> None:
        """Store every file; one that fails does not stop the others."""
        run_parallel(session, wanted, self._store)
        self._progress.end()

    def remove(self, session: Session, ids: list[str]) -> None:
        """Move documents to the archive."""
        run_parallel(session, ids, self._remove)
        self._progress.end()

    def _store(self, session: Session, one: _Wanted) -> None:
        try:
            answer = _sent(session, one)
        except QmsError as error:
            with self._lock:
                self.failed[one.path] = error
        else:
            with self._lock:
                self.answers[one.path] = answer
        self._count()

    def _remove(self, session: Session, entry_id: str) -> None:
        session.call(session.project, "deleteEntry", {"id": entry_id})
        self._count()

    def _count(self) -> None:
        with self._lock:
            self._done += 1
            self._progress.show("documents", self._done, self._total, "files")


def _sent(session: Session, one: _Wanted) -> Any:
    try:
        data = one.path.read_bytes()
    except OSError as error:
        raise invalid("path", f"{one.path} cannot be read: {error.strerror}") from error
    body = {"data": base64.b64encode(data).decode(), "metadata": one.metadata, **one.request}
    return session.call(session.project, "storeDocument", body)


def _stored(session: Session, name: str) -> dict[str, tuple[str, str]]:
    """Return id and sha256 of the documents that came from a folder, by their path in it."""
    found = _all(session, {"kinds": ["document"], "metadata": {"folder": name}})
    return {
        one["metadata"]["path"]: (one["id"], one["body"].get("sha256", ""))
        for one in found
        if isinstance(one.get("metadata", {}).get("path"), str)
    }


def _all(session: Session, wanted: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    cursor = None
    while True:
        page = {"size": _PAGE} | ({"cursor": cursor} if cursor else {})
        request = {"filter": wanted, "include": "full", "page": page}
        answer = session.call(session.project, "listEntries", request)
        found += answer["items"]
        cursor = answer["nextCursor"]
        if cursor is None:
            return found


def _whole(session: Session, entry_id: str, include: str) -> Any:
    """Return a document with all pages of its text or chunks."""
    project, answer = session.project_of(entry_id), None
    request: dict[str, Any] = {"id": entry_id, "include": include}
    while True:
        part = session.call(project, "getDocument", request)
        if answer is None:
            answer = part
        elif include == "text":
            answer["text"] += part["text"]
        else:
            answer["chunks"] += part["chunks"]
        if not part.get("nextCursor"):
            answer.pop("nextCursor", None)
            return answer
        request["page"] = {"size": _PAGE, "cursor": part["nextCursor"]}


def _show_plan(plan: Plan) -> None:
    for sign, names in (("+", plan.new), ("~", plan.changed), ("-", plan.gone)):
        for one in names:
            output.line(f"{sign} {one}")


def _report(asked: Asked, wanted: list[_Wanted], stored: _Stored) -> None:
    paths = [one.path for one in wanted]
    answers = [stored.answers[path] for path in paths if path in stored.answers]
    failed = [path for path in paths if path in stored.failed]
    if asked.as_json:
        output.answer({"documents": answers, "failed": [str(path) for path in failed]})
    else:
        for one in answers:
            state = "stored" if one["created"] else "replaced" if one["updated"] else "unchanged"
            output.line(f"{one['id']}  {state}, {one['chunkCount']} chunks")
    for one in answers:
        for warning in one.get("warnings", ()):
            output.note(f"{one['id']}: {warning}")
    for path in failed:
        output.note(f"{path}: {stored.failed[path].message}")
    if failed:
        # The exit code is that of the first failure: a key that may not write is no wrong path.
        kind = type(stored.failed[failed[0]])
        raise kind(f"{len(failed)} of {len(failed) + len(answers)} files failed")
