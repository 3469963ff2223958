"""Exports of memory servers, read one entry at a time; pure functions on streams."""
