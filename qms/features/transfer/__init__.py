"""Transfer of entries: move, copy, import and export."""
