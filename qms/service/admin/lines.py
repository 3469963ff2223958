"""Bad lines of a store: read whole, corrected in their place, or taken out."""

from qms.domain.errors import NotFoundError, invalid
from qms.service.admin.calls import AdminCall
from qms.service.requests import Request, Response


class LineName(Request, frozen=True):
    """A line of a project's file; lines count from 1."""

    project: str
    line: int


class LineText(Response, frozen=True):
    """A line that is no entry, and why; one that is too long to be an entry is cut off."""

    line: int
    reason: str
    text: str
    is_whole: bool
    """Whether the text is all of the line, byte for byte."""
    version: str


class LineChange(Request, frozen=True):
    """What a line should be; without a text it is taken out. `ifVersion` is that of `LineText`."""

    project: str
    line: int
    if_version: str
    text: str | None = None


class LineChanged(Response, frozen=True):
    """The entry that stands where the bad line stood; None when it was taken out."""

    id: str | None
    version: str | None


def get_line(call: AdminCall, request: LineName) -> LineText:
    """Return the text of a bad line."""
    project = call.administered(request.project)
    seen = project.store.mender.find(request.line)
    if seen is None:
        raise NotFoundError(
            f"line {request.line} of {project.project} is no bad line, or is mended"
        )
    most = call.settings.global_.limits.line_bytes
    text = seen.raw[:most].decode("utf-8", "replace")
    return LineText(
        line=seen.number,
        reason=seen.reason,
        text=text,
        is_whole=text.encode("utf-8") == seen.raw,
        version=seen.version,
    )


def change_line(call: AdminCall, request: LineChange) -> LineChanged:
    """Correct a bad line in its place, or take it out; its text is kept beside the store."""
    project = call.administered(request.project)
    mender = project.store.mender
    if request.text is None:
        mender.take_out(request.line, request.if_version)
        project.record("remove", f"lines/{project.project}/{request.line}")
        return LineChanged(id=None, version=None)
    if not request.text.strip():
        raise invalid("text", "is empty: leave it out to take the line out")
    record = mender.correct(
        request.line,
        request.if_version,
        request.text.encode("utf-8"),
        project.origin,
        project.new_local_id,
    )
    return LineChanged(id=record.header.id, version=record.version())
