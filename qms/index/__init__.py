"""Rebuildable indexes over the entries of one store."""
