"""Synchronisation of two sides of a project."""
