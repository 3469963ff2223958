"""Relations of entries: link, unlink, list, and walk the graph."""
