"""The archive: list, restore and purge removed entries; forget many at once, and undo that."""
