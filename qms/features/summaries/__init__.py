"""Summaries of entries."""
