"""Locked worker processes for work on bytes and code that nobody can vouch for."""
