"""Maintenance of store files: reload, held deletions, problems, conflicts, bad lines."""
