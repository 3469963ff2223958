"""Counting what a project holds: by kind, lifespan, trust and namespace."""

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from qms.codec.documents import instant_text
from qms.domain.entry import Header
from qms.domain.lifecycle import is_expired
from qms.service.calls import Call
from qms.service.requests import NoArguments, Response

SOON = timedelta(hours=24)
"""What ends within this time is expiring soon."""


class NamespaceCount(Response, frozen=True):
    """A namespace and how many entries it has; none is the entries without one."""

    namespace: str | None
    count: int


class NamespacesAnswer(Response, frozen=True):
    """The namespaces of a project, the largest first."""

    namespaces: list[NamespaceCount]


class StatsAnswer(Response, frozen=True):
    """What a project holds; expired entries that still stand in the file count apart."""

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


def namespaces(call: Call, _request: NoArguments) -> NamespacesAnswer:
    """Return every namespace with its number of entries."""
    return NamespacesAnswer(namespaces=_by_namespace(_living_headers(call)))


def stats(call: Call, _request: NoArguments) -> StatsAnswer:
    """Count the project's entries in every way that a person asks about."""
    store = call.store
    view = store.view
    headers = _living_headers(call)
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
        expired=len(view) - len(headers),
        links=sum(len(header.relations) for header in headers),
        archived=store.archive.count(),
        oldest_utc=instant_text(min(times)) if times else None,
        newest_utc=instant_text(max(times)) if times else None,
    )


def _living_headers(call: Call) -> list[Header]:
    records = call.store.view.records.values()
    return [one.header for one in records if not is_expired(one.header, call.now)]


def _by_namespace(headers: Iterable[Header]) -> list[NamespaceCount]:
    counts = Counter(header.namespace for header in headers)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0] or ""))
    return [NamespaceCount(namespace=name, count=count) for name, count in ordered]


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(str(value) for value in values).items()))
