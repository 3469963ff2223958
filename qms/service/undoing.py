"""undoForget: bring back, in one change, everything that was forgotten together."""

from qms.domain.access import check_create
from qms.domain.errors import NotAllowedError, NotFoundError
from qms.domain.lifecycle import is_expired
from qms.service.calls import Call
from qms.service.requests import Request, Response
from qms.service.writing import check_quota, writing_for
from qms.store.draft import Draft
from qms.store.view import Record, StoreView


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

    if request.dry_run:
        return _sorted_out(call, records, call.store.view, dry_run=True)

    def plan(draft: Draft) -> UndoAnswer:
        answer = _sorted_out(call, records, draft)
        writing, back = writing_for(call), frozenset(answer.ids)
        for record in records:
            if record.header.id in back:
                check_quota(draft, writing, record.document(), None)
                draft.put_line(record.line)
        return answer

    return call.commit(plan)


def _sorted_out(
    call: Call, records: list[Record], store: Draft | StoreView, *, dry_run: bool = False
) -> UndoAnswer:
    """Say which entries come back to a store as it is."""
    ids = {one.header.id for one in records if _may_return(call, store, one)}
    skipped = {one.header.id for one in records} - ids
    return UndoAnswer(restored=len(ids), ids=sorted(ids), skipped=sorted(skipped), dry_run=dry_run)


def _may_return(call: Call, store: Draft | StoreView, record: Record) -> bool:
    current = store.get(record.header.id)
    lives = current is not None and not is_expired(current.header, call.now)
    if lives or is_expired(record.header, call.now):
        return False
    try:
        check_create(call.caller.access, record.header)
    except NotAllowedError:
        return False
    return True
