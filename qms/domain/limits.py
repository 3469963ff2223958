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
    query_bytes: int = 4096
    query_terms: int = 64
    body_bytes: int = 2 * 1024 * 1024
    import_bytes: int = 64 * 1024 * 1024


DEFAULT_LIMITS = Limits()
