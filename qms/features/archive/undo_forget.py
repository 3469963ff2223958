"""undoForget: restore, in one change, all entries of one forgetEntries call."""

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.entry_writes import check_quota, living, write_rules
from qms.commands.requests import Request, Response
from qms.memory.access import AccessTier, check_put
from qms.memory.bodies import Kind
from qms.memory.errors import NotAllowedError, NotFoundError
from qms.memory.retention import is_expired
from qms.store.draft import Draft
from qms.store.view import Record, StoreView


class UndoRequest(Request, frozen=True):
    """The `undoId` of forgetEntries; a dry run only reports what would be restored."""

    undo_id: str
    dry_run: bool = False


class UndoAnswer(Response, frozen=True):
    """The restored entries; skipped are those that exist, are expired or are not allowed."""

    restored: int
    ids: list[str]
    skipped: list[str]
    dry_run: bool


@command(
    tier=AccessTier.CURATOR,
    toolset="lifecycle",
    help="Bring back everything that was forgotten together",
    example={"undoId": "01931c6e-0000-7000-8000-000000000002", "dryRun": True},
    idempotent=True,
)
def undo_forget(call: Call, request: UndoRequest) -> UndoAnswer:
    """Restore the entries of one forgetEntries call, each line unchanged."""
    lines = call.store.archive.lines_undone_by(request.undo_id)
    if not lines:
        raise NotFoundError(f"there is no undo id {request.undo_id[:64]!r}")
    records = [Record.from_line(line) for line in lines]
    records.sort(key=lambda one: one.header.kind is Kind.CHUNK)  # after their documents

    if request.dry_run:
        return _sorted_out(call, records, call.store.view, dry_run=True)

    def plan(draft: Draft) -> UndoAnswer:
        answer = _sorted_out(call, records, draft)
        writing, back = write_rules(call), frozenset(answer.ids)
        for record in records:
            if record.header.id in back:
                living(draft, record.header.id, call.now)
                check_quota(draft, writing, record.document(), None)
                draft.put_line(record.line)
        return answer

    return call.commit(plan)


def _sorted_out(
    call: Call, records: list[Record], store: Draft | StoreView, *, dry_run: bool = False
) -> UndoAnswer:
    """Return which entries can be restored to a store as it is."""
    ids = {one.header.id for one in records if _may_return(call, store, one)}
    skipped = {one.header.id for one in records} - ids
    return UndoAnswer(restored=len(ids), ids=sorted(ids), skipped=sorted(skipped), dry_run=dry_run)


def _may_return(call: Call, store: Draft | StoreView, record: Record) -> bool:
    current = store.get(record.header.id)
    lives = current is not None and not is_expired(current.header, call.now)
    if lives or is_expired(record.header, call.now):
        return False
    try:
        check_put(call.caller.access, None, record.header)
    except NotAllowedError:
        return False
    return True
