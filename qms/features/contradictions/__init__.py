"""Contradictions: list them, and resolve one."""
