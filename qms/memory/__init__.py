"""Entries: types, rules, limits, rights, errors, and the JSON line that stores an entry."""
