"""The versions of an entry, for whoever looks after the server."""

from qms.service.admin.calls import AdminCall
from qms.service.history import Most, VersionItem, told_versions
from qms.service.requests import Request, Response


class VersionQuery(Request, frozen=True):
    """Of which entry of a project; `full` asks for the entries themselves."""

    project: str
    id: str
    limit: Most = 50
    full: bool = False


class VersionPage(Response, frozen=True):
    """Versions, the newest first; `omitted` older ones are left out."""

    items: list[VersionItem]
    omitted: int
    version: str


def list_versions(call: AdminCall, request: VersionQuery) -> VersionPage:
    """Return what is known of an entry's versions."""
    project, shelf = call.in_project(request.project), call.house.desk.shelf
    local = request.id.partition(":")[2] or request.id
    entry_id = f"{project.project}:{local}"
    items, omitted = told_versions(
        project.store, shelf, entry_id, limit=request.limit, full=request.full
    )
    return VersionPage(items=items, omitted=omitted, version=call.version)
