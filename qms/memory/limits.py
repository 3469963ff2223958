"""Every limit of an entry and a request, by the name it has in `[global.limits]`."""

import msgspec


class Limits(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """The limits in force; bytes are of UTF-8."""

    title_bytes: int = 512
    text_bytes: int = 64 * 1024
    line_bytes: int = 1024 * 1024
    tags: int = 50
    tag_bytes: int = 128
    relations: int = 1000
    json_depth: int = 64
    bulk_entries: int = 1000
    results: int = 200
    hops: int = 5
    graph_nodes: int = 500
    list_items: int = 1000
    """Items of a list or an object that a request names, unless the field has another limit."""
    value_items: int = 10_000
    """Items of a list or an object inside a value: an entry, metadata, an embedding."""
    sync_entries: int = 1_000_000
    """Entries that one side of a sync names at once."""
    query_bytes: int = 4096
    query_terms: int = 64
    read_seconds: int = 20
    """Seconds that a read may take, not counting waits for a thread, a store or its indexes."""
    body_bytes: int = 2 * 1024 * 1024
    import_bytes: int = 64 * 1024 * 1024
    import_rows: int = 50_000
    import_seconds: int = 30
    file_megabytes: int = 2048


DEFAULT_LIMITS = Limits()

LIMIT_KEY = "limit"
"""The key under which the annotation of a field names the limit of its items."""

_ATTRIBUTES = {field.encode_name: field.name for field in msgspec.structs.fields(Limits)}


def limited_by(name: str) -> msgspec.Meta:
    """Return the annotation of a list or an object whose number of items has this limit."""
    assert name in _ATTRIBUTES, f"{name} is no limit"
    return msgspec.Meta(extra={LIMIT_KEY: name})


def limit_named(limits: Limits, name: str) -> int:
    """Return the limit that has this name in `[global.limits]`."""
    value: int = getattr(limits, _ATTRIBUTES[name])
    return value
