"""Backups, restore, history and erasure."""
