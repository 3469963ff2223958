"""Bad lines of a store: show, correct in place, or remove."""

from qms.commands.call import Call
from qms.commands.command import EXAMPLE_VERSION, command
from qms.commands.requests import Request, Response
from qms.memory.errors import NotFoundError, invalid


class LineName(Request, frozen=True):
    """A line of a project's file; lines count from 1."""

    project: str
    line: int


class LineText(Response, frozen=True):
    """A line that is no entry, and the reason; a text beyond the line limit is cut off."""

    line: int
    reason: str
    text: str
    is_whole: bool
    """Whether the text is all of the line, byte for byte."""
    version: str


class LineChange(Request, frozen=True):
    """The new text of a line; without one the line is removed.

    `ifVersion` is the version of `LineText`.
    """

    project: str
    line: int
    if_version: str
    text: str | None = None


class LineChanged(Response, frozen=True):
    """The entry that replaces the bad line; None when the line was removed."""

    id: str | None
    version: str | None


@command(
    route="GET /admin/problems/{project}/{line}",
    help="Return the whole text of a bad line",
    example={"project": "projA", "line": 7},
    after="listAllProblems",
)
def get_line(call: Call, request: LineName) -> LineText:
    """Return the text of a bad line."""
    project = call.administered(request.project)
    seen = project.store.line_repair.find(request.line)
    if seen is None:
        raise NotFoundError(
            f"line {request.line} of {project.project} is not a bad line, or was corrected"
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


@command(
    route="PUT /admin/problems/{project}",
    help="Correct a bad line in its place, or take it out; its text is kept",
    example={
        "project": "projA",
        "line": 7,
        "ifVersion": EXAMPLE_VERSION,
        "text": '{"kind":"fact","body":{"statement":"Ports are free again"}}',
    },
    destructive=True,
    after="getLine",
)
def change_line(call: Call, request: LineChange) -> LineChanged:
    """Correct a bad line in place, or remove it; its text is kept beside the store."""
    project = call.administered(request.project)
    line_repair = project.store.line_repair
    if request.text is None:
        line_repair.take_out(request.line, request.if_version)
        project.record("remove", f"lines/{project.project}/{request.line}")
        return LineChanged(id=None, version=None)
    if not request.text.strip():
        raise invalid("text", "is empty: leave it out to remove the line")
    record = line_repair.correct(
        request.line,
        request.if_version,
        request.text.encode("utf-8"),
        project.origin,
        project.new_local_id,
    )
    return LineChanged(id=record.header.id, version=record.version())
