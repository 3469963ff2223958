"""Consolidation: find duplicates, and merge several entries into one."""
