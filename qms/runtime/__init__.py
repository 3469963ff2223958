"""Wiring, watching and timed jobs."""
