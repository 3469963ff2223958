"""Composition root: builds the server, starts it, runs its jobs and stops it."""
