"""undoForget: bring back, in one change, everything that was forgotten together."""

from qms.domain.access import check_create
from qms.domain.errors import NotAllowedError, NotFoundError
from qms.domain.lifecycle import is_expired
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.service.writing import living
from qms.store.draft import Draft
from qms.store.view import Record


class UndoRequest(Request, frozen=True):
    """The id that forgetting answered, and whether to say only what would come back."""

    undo_id: str
    dry_run: bool = False


class UndoAnswer(Response, frozen=True):
    """What came back, or would; what lives again by now, is past its end or is not allowed."""

    restored: int
    ids: list[str]
    skipped: list[str]
    dry_run: bool


def undo_forget(call: Call, request: UndoRequest) -> UndoAnswer:
    """Bring back what left together, each line as it was."""
    lines = call.store.archive.lines_undone_by(request.undo_id)
    if not lines:
        raise NotFoundError(f"nothing was forgotten as {request.undo_id[:64]!r}")
    records = [Record.from_line(line) for line in lines]

    def plan(draft: Draft) -> UndoAnswer:
        back = [one for one in records if _may_return(call, draft, one)]
        for record in back:
            draft.put_line(record.line)
        ids = {one.header.id for one in back}
        skipped = sorted({one.header.id for one in records} - ids)
        return UndoAnswer(restored=len(ids), ids=sorted(ids), skipped=skipped, dry_run=False)

    if request.dry_run:
        view = call.store.view
        ids = sorted(one.header.id for one in records if view.get(one.header.id) is None)
        skipped = sorted({one.header.id for one in records} - set(ids))
        return UndoAnswer(restored=len(ids), ids=ids, skipped=skipped, dry_run=True)
    return call.commit(plan)


def _may_return(call: Call, draft: Draft, record: Record) -> bool:
    if living(draft, record.header.id, call.now) is not None or is_expired(record.header, call.now):
        return False
    try:
        check_create(call.caller.access, record.header)
    except NotAllowedError:
        return False
    return True
