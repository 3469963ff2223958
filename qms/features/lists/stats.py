"""Statistics of a project: entries by kind, retention, curation tier and namespace."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from qms.commands.call import Call
from qms.commands.command import command
from qms.commands.requests import NoArguments, Request, Response
from qms.features.lists.list_entries import matches
from qms.memory.access import AccessTier
from qms.memory.entry import Header
from qms.memory.filters import Filter
from qms.memory.retention import is_expired
from qms.memory.validation import instant_text

SOON = timedelta(hours=24)
"""An entry that ends within this time is expiring soon."""


class StatsRequest(Request, frozen=True):
    """Which entries to count; all of them without a filter."""

    filter: Filter | None = None


class NamespaceCount(Response, frozen=True):
    """A namespace and its number of entries; null counts the entries without one."""

    namespace: str | None
    count: int


class NamespacesAnswer(Response, frozen=True):
    """The namespaces of a project, the largest first."""

    namespaces: list[NamespaceCount]


class StatsAnswer(Response, frozen=True):
    """The numbers of a project; expired entries that are still in the file count separately.

    `bytes` and `archived` are of the whole project, with a filter, too.
    """

    entries: int
    bytes: int
    by_kind: dict[str, int]
    by_retention: dict[str, int]
    by_curation_tier: dict[str, int]
    by_namespace: list[NamespaceCount]
    expiring_soon: int
    expired: int
    links: int
    archived: int
    oldest_utc: str | None
    newest_utc: str | None


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="List the namespaces with their number of entries",
    read_only=True,
    idempotent=True,
    brief=True,
    after="stats",
)
def namespaces(call: Call, _request: NoArguments) -> NamespacesAnswer:
    """Return every namespace with its number of entries."""
    headers = _headers(call)
    return NamespacesAnswer(namespaces=_by_namespace(_living(call, headers)))


@command(
    tier=AccessTier.READER,
    toolset="lifecycle",
    help="Count the entries by kind, retention, trust and namespace, and what expires soon",
    read_only=True,
    idempotent=True,
    care=True,
)
def stats(call: Call, request: StatsRequest) -> StatsAnswer:
    """Return the statistics of the project, or of its entries that match a filter."""
    store = call.store
    view = store.view
    matching = _headers(call, request.filter)
    headers = _living(call, matching)
    times = [header.timestamps.created_utc for header in headers]
    soon = call.now + SOON
    return StatsAnswer(
        entries=len(headers),
        bytes=view.total_bytes,
        by_kind=_counted(header.kind for header in headers),
        by_retention=_counted(header.retention for header in headers),
        by_curation_tier=_counted(header.curation_tier for header in headers),
        by_namespace=_by_namespace(headers),
        expiring_soon=sum(is_expired(header, soon) for header in headers),
        expired=len(matching) - len(headers),
        links=sum(
            call.visibility.shows(one.target_id) for header in headers for one in header.relations
        ),
        archived=store.archive.count(),
        oldest_utc=instant_text(min(times)) if times else None,
        newest_utc=instant_text(max(times)) if times else None,
    )


def _headers(call: Call, wanted: Filter | None = None) -> list[Header]:
    records = call.deadline.rows(call.store.view.records.values())
    if wanted is None:
        return [one.header for one in records]
    shown = call.visibility.shown_filter(wanted)
    return [one.header for one in records if matches(shown, one)]


def _living(call: Call, headers: list[Header]) -> list[Header]:
    return [one for one in headers if not is_expired(one, call.now)]


def _by_namespace(headers: Iterable[Header]) -> list[NamespaceCount]:
    counts = Counter(header.namespace for header in headers)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return [NamespaceCount(namespace=name, count=count) for name, count in ordered]


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(str(value) for value in values).items()))
